-- One exchange of a worker with the reports of all others; see ports/fleet_reports.py for what it means.
-- KEYS[1] prefix with a hash tag, so that all keys live together
-- ARGV[1] sender; [2] its gateway; [3] version; [4] body; [5] known versions by sender, msgpack; [6] gossip read so far;
-- ARGV[7] how long a silent worker counts, ms; [8] how far back gossip is read at first, ms; [9] messages of gossip kept;
-- ARGV[10] senders at most; [11] bytes of one body at most; [12] bytes of an answer at most; [13] messages read at once;
-- ARGV[14] and on: messages of gossip

local prefix, sender, gateway, version = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local known = cmsgpack.unpack(ARGV[5])
local ttl_ms, back_ms = tonumber(ARGV[7]), tonumber(ARGV[8])
local body_max, room = tonumber(ARGV[11]), tonumber(ARGV[12])
local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local alive, gossip = prefix .. 'alive', prefix .. 'gossip'

redis.call('ZREMRANGEBYSCORE', alive, '-inf', now_ms - ttl_ms)
redis.call('ZADD', alive, now_ms, sender)
redis.call('PEXPIRE', alive, ttl_ms * 2)
local own = prefix .. 'report:' .. sender
redis.call('HSET', own, 'version', version, 'body', ARGV[4])
redis.call('PEXPIRE', own, ttl_ms)

local entries = {}
local others = redis.call('ZREVRANGE', alive, 0, tonumber(ARGV[10]), 'WITHSCORES')
for i = 1, #others, 2 do
  local other, key = others[i], prefix .. 'report:' .. others[i]
  local other_version = other ~= sender and redis.call('HGET', key, 'version')
  if other_version then
    local body = false
    if tostring(known[other]) ~= other_version then
      local size = redis.call('HSTRLEN', key, 'body')
      if size <= body_max and size <= room then
        body = redis.call('HGET', key, 'body')
        room = room - size
      end
    end
    entries[#entries + 1] = { other, other_version, tostring(now_ms - tonumber(others[i + 1])), body }
  end
end

local read_to = ARGV[6]
if read_to == '' then
  read_to = string.format('%d-0', now_ms - back_ms)
end
local heard = {}
local found = redis.call('XREAD', 'COUNT', ARGV[13], 'STREAMS', gossip, read_to)
if found then
  for _, message in ipairs(found[1][2]) do
    read_to = message[1]
    local fields = message[2]
    if fields[2] ~= gateway and #fields[4] <= body_max then
      heard[#heard + 1] = fields[4]
    end
  end
end

for i = 14, #ARGV do
  redis.call('XADD', gossip, 'MAXLEN', '~', ARGV[9], '*', 'g', gateway, 'm', ARGV[i])
end
if #ARGV >= 14 then
  redis.call('PEXPIRE', gossip, back_ms)
end

return { entries, heard, read_to }
