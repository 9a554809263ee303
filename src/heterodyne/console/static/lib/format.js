// Figures as people read them. What is not known is a dash, never a zero.

export const NONE = "–";
const LOCALE = "en-GB";
const CLOCK = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
const MINUTE = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit", hour12: false });
const DATE_TIME = new Intl.DateTimeFormat(LOCALE, {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false,
});
const SHORT_DATE_TIME = new Intl.DateTimeFormat(LOCALE, {
  day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false,
});
const DAY = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short" });
const WHOLE = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 1 });
const CENTS = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

const known = (n) => n !== null && n !== undefined && !Number.isNaN(n);

// Milliseconds: 5.6 ms, 123 ms, 1.23 s, 2 min 3 s
export function ms(n) {
  if (!known(n)) return NONE;
  if (n === 0) return "0 ms";
  if (Math.abs(n) < 9.95) return `${n.toFixed(1)} ms`;
  if (Math.abs(n) < 999.5) return `${Math.round(n)} ms`;
  if (Math.abs(n) < 59995) return `${(n / 1000).toFixed(2)} s`;
  return seconds(n / 1000);
}

// Seconds: 12 s, 3 min 5 s, 2 h 5 min, 3 d 4 h
export function seconds(n) {
  if (!known(n)) return NONE;
  const whole = Math.round(n);
  if (whole < 60) return `${whole} s`;
  const [big, small, bigName, smallName] =
    whole < 3600 ? [60, 1, "min", "s"] : whole < 86400 ? [3600, 60, "h", "min"] : [86400, 3600, "d", "h"];
  const rest = Math.floor((whole % big) / small);
  return `${Math.floor(whole / big)} ${bigName}${rest ? ` ${rest} ${smallName}` : ""}`;
}

// 1,234 · 56.7k · 8.9M · 1.2G
export function tokens(n) {
  if (!known(n)) return NONE;
  if (Math.abs(n) < 10000) return WHOLE.format(n);
  if (Math.abs(n) < 999950) return `${SHORT.format(n / 1000)}k`;
  if (Math.abs(n) < 999950000) return `${SHORT.format(n / 1e6)}M`;
  return `${SHORT.format(n / 1e9)}G`;
}

// A figure per unit of time: rate(12.34, "req/s") -> 12.3 req/s
export function rate(n, unit) {
  if (!known(n)) return NONE;
  const said = n === 0 ? "0" : Math.abs(n) < 10 ? n.toFixed(Math.abs(n) < 1 ? 2 : 1) : tokens(n);
  return unit ? `${said} ${unit}` : said;
}

// Dollars: small sums keep two digits that mean something.
export function usd(n) {
  if (!known(n)) return NONE;
  if (n === 0) return "$0.00";
  const size = Math.abs(n);
  const sign = n < 0 ? "−" : "";
  if (size >= 10000) return `${sign}$${WHOLE.format(size)}`;
  if (size >= 0.1) return `${sign}$${CENTS.format(size)}`;
  const digits = Math.min(9, 1 - Math.floor(Math.log10(size)));
  return `${sign}$${size.toFixed(digits)}`;
}

export function usdPerMillion(n) {
  return known(n) ? `${usd(n)}/1M` : NONE;
}

// A share of one: 0.423 -> 42%
export function percent(share) {
  if (!known(share)) return NONE;
  const hundredths = share * 100;
  const isFine = hundredths !== 0 && Math.abs(hundredths) < 9.95;
  const isAlmostAll = hundredths > 99 && hundredths < 100;
  return `${hundredths.toFixed(isAlmostAll ? 2 : isFine ? 1 : 0)}%`;
}

// 512 B · 1.4 KB · 3.2 GB, by thousands
export function bytes(n) {
  if (!known(n)) return NONE;
  const names = ["B", "KB", "MB", "GB", "TB", "PB"];
  let size = n;
  let step = 0;
  while (Math.abs(size) >= 1000 && step < names.length - 1) {
    size /= 1000;
    step += 1;
  }
  return `${SHORT.format(size)} ${names[step]}`;
}

// Moments are seconds since the epoch, shown in the reader's own time zone.
export function clock(at) {
  return known(at) ? CLOCK.format(at * 1000) : NONE;
}

export function dateTime(at) {
  return known(at) ? DATE_TIME.format(at * 1000) : NONE;
}

// 15 Nov
export function day(at) {
  return known(at) ? DAY.format(at * 1000) : NONE;
}

// Without the year: 15 Nov 14:33:59
export function shortDateTime(at) {
  return known(at) ? SHORT_DATE_TIME.format(at * 1000).replace(",", "") : NONE;
}

// 14:33 of today, 16 Nov 14:33 of another day
export function dayMinute(at) {
  if (!known(at)) return NONE;
  const isToday = DAY.format(at * 1000) === DAY.format(Date.now());
  return isToday ? MINUTE.format(at * 1000) : `${DAY.format(at * 1000)} ${MINUTE.format(at * 1000)}`;
}

export function ago(at) {
  return known(at) ? `${seconds(Math.max(0, Date.now() / 1000 - at))} ago` : NONE;
}

export function count(n) {
  return known(n) ? WHOLE.format(n) : NONE;
}
