// What the figures of a model's room mean, in sentences with a tone: good, warn, bad, or unknown. Pure.

import { dateTime, percent, seconds, usd } from "../lib/format.js";

// Nothing is good by a forecast that has no record here, or that may well meet the room.
export function fullWords(room) {
  const most = roomOf(room);
  if (room.full_at !== null) {
    const left = room.full_at - Date.now() / 1000;
    const when = left > 0 ? `in ${seconds(left)}, ${dateTime(room.full_at)}` : "now";
    return { words: `Full ${when}: the forecast meets the room.`, tone: left > 6 * 3600 ? "warn" : "bad" };
  }
  const missing = !room.forecast.length ? "there is no forecast" : room.load === null ? "its room is not known" : "";
  if (missing) return { words: `Nobody can say when it will be full: ${missing}.`, tone: "unknown" };
  if (!room.is_forecast_credible) {
    return { words: "Not full within the forecast, which is a guess: there is too little history.", tone: "unknown" };
  }
  const risk = room.forecast.find((point) => most !== null && point.high >= most);
  if (risk) {
    const when = dateTime(risk.at);
    return { words: `Not full by what is expected, but perhaps by ${when}: the forecast's high end.`, tone: "warn" };
  }
  return { words: "Not full within the forecast.", tone: "good" };
}

// All that the pools serve together; null where nobody knows it.
export function roomOf(room) {
  if (room.headroom_requests_per_s !== null) return room.requests_per_s + room.headroom_requests_per_s;
  const known = room.pools.filter((pool) => pool.requests_per_s_max !== null);
  return known.length ? known.reduce((sum, pool) => sum + pool.requests_per_s_max, 0) : null;
}

export function lossWords(room) {
  const { loss } = room;
  if (loss === null) {
    return { words: "One replica or none takes work: losing it leaves nothing.", tone: "bad" };
  }
  const gone = `Without ${loss.replica} (${loss.pool}), the one that would be missed most,`;
  if (loss.is_enough === null) return { words: `${gone} nobody knows whether the rest is enough.`, tone: "unknown" };
  const taken = loss.load_after === null ? "" : ` ${percent(loss.load_after)} of the room would be taken:`;
  return loss.is_enough
    ? { words: `${gone}${taken} the rest is enough.`, tone: "good" }
    : { words: `${gone}${taken} the rest is not enough.`, tone: "bad" };
}

// For the peak of the forecast with one replica lost.
export function purchaseWords(room) {
  if (!room.purchase.length) {
    return room.purchase_note
      ? { words: sentence(room.purchase_note), tone: "unknown" }
      : { words: "The planner would add nothing.", tone: "good" };
  }
  const known = room.purchase.filter((one) => one.usd_per_hour !== null);
  const sum = usd(known.reduce((all, one) => all + one.usd_per_hour, 0));
  const least = known.length < room.purchase.length ? "at least " : "";
  const price = known.length ? `, ${least}${sum}/h more` : "";
  return {
    words: `For the forecast's peak with one replica lost the planner would add${price}:`,
    tone: "warn",
    items: room.purchase.map(purchase),
  };
}

function sentence(note) {
  return `${note[0].toUpperCase()}${note.slice(1).replace(/\.$/, "")}.`;
}

function purchase(one) {
  const price = one.usd_per_hour === null ? "price not known" : `${usd(one.usd_per_hour)}/h`;
  return `${one.replicas} × (${one.tp} × ${one.hardware}), ${price}`;
}
