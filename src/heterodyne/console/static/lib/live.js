// What the fleet is doing, once a second, for whoever subscribes; comes back by itself when the line is cut.

import { get, signals } from "./api.js";

const BACK_OFF_S = [1, 2, 4, 8, 15];
const SILENCE_S = 6; // longer than this without an event, and the line is taken for dead
const RECENT_MAX = 1000;

class Live {
  latest = null; // the last LivePage; null: there was none yet
  recent = []; // finished requests, the newest first
  #subscribers = new Set();
  #watchers = new Set();
  #source = null;
  #failures = 0;
  #isCut = false; // the line was closed, or nothing came for too long
  #heardAt = 0; // by this browser's clock, milliseconds
  #retry = 0;
  #clock = 0;

  constructor() {
    document.addEventListener("visibilitychange", () => this.#tell());
  }

  // fn(page) now, if there is a page, and each second; returns a function that ends it.
  subscribe(fn) {
    this.#subscribers.add(fn);
    if (this.latest) fn(this.latest);
    return () => this.#subscribers.delete(fn);
  }

  // fn({ isConnected, silentS, heardAt, hasPage }) each second, and at once when the line is cut or back; heardAt is in
  // seconds since the epoch.
  watch(fn) {
    this.#watchers.add(fn);
    fn(this.#state());
    return () => this.#watchers.delete(fn);
  }

  // Requests that finished before the page was opened, out of the books.
  seed(lines) {
    const known = new Set(this.recent.map((row) => row.id));
    this.recent = this.recent.concat(lines.filter((row) => !known.has(row.id))).slice(0, RECENT_MAX);
  }

  start() {
    if (this.#clock) return;
    this.#heardAt = Date.now();
    this.#clock = setInterval(() => this.#tick(), 1000);
    this.#open();
  }

  stop() {
    clearInterval(this.#clock);
    clearTimeout(this.#retry);
    this.#source?.close();
    this.#clock = this.#retry = 0;
    this.#source = this.latest = null;
    this.recent = [];
  }

  #open() {
    this.#retry = 0;
    this.#source?.close();
    const source = new EventSource("/admin/live");
    this.#source = source;
    source.addEventListener("now", (event) => this.#take(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      if (source === this.#source) this.#fail();
    });
  }

  #take(page) {
    this.#failures = 0;
    this.#isCut = false;
    this.#heardAt = Date.now();
    this.latest = page;
    this.recent = page.requests.concat(this.recent).slice(0, RECENT_MAX);
    this.#tellWatchers();
    this.#tell();
  }

  // A page that nobody sees draws nothing; it is told when it is seen again.
  #tell() {
    if (document.hidden || !this.latest) return;
    for (const fn of this.#subscribers) this.#call(fn, this.latest);
  }

  // One view that fails does not stop the others.
  #call(fn, page) {
    try {
      fn(page);
    } catch (error) {
      console.error(error);
    }
  }

  #fail() {
    this.#source?.close();
    this.#source = null;
    this.#isCut = true;
    this.#tellWatchers();
    if (this.#retry) return;
    const wait_s = BACK_OFF_S[Math.min(this.#failures, BACK_OFF_S.length - 1)];
    this.#failures += 1;
    this.#retry = setTimeout(() => this.#open(), wait_s * 1000 * (0.75 + Math.random() / 2));
    this.#askWhetherSignedOut();
  }

  // An event stream does not tell why it was refused.
  async #askWhetherSignedOut() {
    try {
      const session = await get("/session");
      if (session.needs_key && session.who === null) signals.dispatchEvent(new Event("signed-out"));
    } catch {
      // Nobody answers: the retry is under way.
    }
  }

  #tick() {
    const state = this.#state();
    if (!state.isConnected && this.#source && state.silentS >= SILENCE_S * (this.#failures + 1)) this.#fail();
    this.#tellWatchers();
  }

  #tellWatchers() {
    const state = this.#state();
    for (const fn of this.#watchers) fn(state);
  }

  #state() {
    const silentS = Math.round((Date.now() - this.#heardAt) / 1000);
    const hasPage = this.latest !== null;
    const isConnected = hasPage && !this.#isCut && silentS < SILENCE_S;
    return { isConnected, silentS, heardAt: this.#heardAt / 1000, hasPage };
  }
}

export const live = new Live();
