-- One exchange of a worker with the counters of limits; see ports/leases.py for what it means.
-- KEYS[1] prefix with a hash tag, so that all keys live together
-- ARGV[1] the call, msgpack; [2] how long a silent holder lives, ms; [3] how long a window outlives its end, s;
-- ARGV[4] the name of the epoch, should this call begin one; [5] how long an answer is kept for a call sent again, s

local prefix, ttl_ms, grace_s = KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local holder, sequence, reports, groups = unpack(cmsgpack.unpack(ARGV[1]))
local time = redis.call('TIME')
local now_s = tonumber(time[1])
local now_ms = now_s * 1000 + math.floor(tonumber(time[2]) / 1000)
local alive, memo = prefix .. 'alive', prefix .. 'answer:' .. holder

redis.call('ZREMRANGEBYSCORE', alive, '-inf', now_ms)
redis.call('ZADD', alive, now_ms + ttl_ms, holder)
redis.call('PEXPIRE', alive, ttl_ms * 2)

local known = redis.call('HMGET', memo, 'sequence', 'answer')
if known[1] == string.format('%d', sequence) then
  return known[2]
end

redis.call('SET', prefix .. 'epoch', ARGV[4], 'NX')
local epoch = redis.call('GET', prefix .. 'epoch')
local holders = redis.call('ZCARD', alive)

local function window_key(counter, window)
  return prefix .. 'used:' .. counter .. ':' .. string.format('%d', window)
end

local function running_key(counter)
  return prefix .. 'running:' .. counter
end

-- What each live holder runs, added up; the others are dropped.
local function running(counter)
  local key, sum = running_key(counter), 0
  local held = redis.call('HGETALL', key)
  for i = 1, #held, 2 do
    if redis.call('ZSCORE', alive, held[i]) then
      sum = sum + tonumber(held[i + 1])
    else
      redis.call('HDEL', key, held[i])
    end
  end
  return sum
end

local function used(counter, window)
  if window == 0 then
    return running(counter)
  end
  return tonumber(redis.call('GET', window_key(counter, window)) or 0)
end

local function add(counter, window, ends_s, amount)
  if window == 0 then
    redis.call('HINCRBY', running_key(counter), holder, string.format('%d', amount))
    redis.call('PEXPIRE', running_key(counter), ttl_ms * 2)
    return
  end
  local key = window_key(counter, window)
  local sum = redis.call('INCRBY', key, string.format('%d', amount))
  if sum < 0 then
    -- What is given back to a counter that began again was taken from the one before it.
    redis.call('SET', key, 0)
    sum = 0
  end
  if sum == amount or sum == 0 then
    redis.call('EXPIREAT', key, string.format('%d', math.max(now_s, math.ceil(ends_s)) + grace_s))
  end
end

for _, report in ipairs(reports) do
  local counter, window, ends_s, amount = unpack(report)
  if window ~= 0 then
    add(counter, window, ends_s, amount)
  elseif amount > 0 then
    redis.call('HSET', running_key(counter), holder, string.format('%d', amount))
    redis.call('PEXPIRE', running_key(counter), ttl_ms * 2)
  else
    redis.call('HDEL', running_key(counter), holder)
  end
end

local answers = {}
for g, wants in ipairs(groups) do
  local lefts, enough = {}, true
  for w, want in ipairs(wants) do
    local counter, window, _, limit, at_least = unpack(want)
    lefts[w] = limit - used(counter, window)
    enough = enough and lefts[w] >= at_least
  end
  local grants = {}
  for w, want in ipairs(wants) do
    local counter, window, ends_s, _, at_least, wanted = unpack(want)
    local amount = 0
    if enough then
      amount = math.max(at_least, math.min(wanted, math.floor(lefts[w] / (2 * holders))))
      add(counter, window, ends_s, amount)
    end
    grants[w] = { amount, lefts[w] - amount }
  end
  answers[g] = grants
end

local answer = cmsgpack.pack({ epoch, holders, answers })
redis.call('HSET', memo, 'sequence', string.format('%d', sequence), 'answer', answer)
redis.call('EXPIRE', memo, ARGV[5])
return answer
