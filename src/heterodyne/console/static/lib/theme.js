// Light and dark: what the system prefers, until somebody says otherwise; that is kept in this browser.

const KEPT = "heterodyne.theme";
const SYSTEM = matchMedia("(prefers-color-scheme: dark)");
const page = document.documentElement;
const events = new EventTarget();

export const theme = {
  get isDark() {
    return page.dataset.theme === "dark";
  },
  toggle() {
    show(theme.isDark ? "light" : "dark");
    try {
      localStorage.setItem(KEPT, page.dataset.theme);
    } catch {
      // A browser that keeps nothing still shows it until the page is left.
    }
  },
  // -> a function that ends it
  onChange(listen) {
    events.addEventListener("change", listen);
    return () => events.removeEventListener("change", listen);
  },
};

// The value of a colour of style.css: colour("accent"), colour("series-2")
export function colour(name) {
  return getComputedStyle(page).getPropertyValue(`--${name}`).trim();
}

// "#rrggbb" mixed with the page's background, so that what lies over another area hides it.
export function pale(hex, share) {
  const parts = (said) => [1, 3, 5].map((start) => Number.parseInt(said.slice(start, start + 2), 16));
  const under = parts(colour("background"));
  return `rgb(${parts(hex).map((part, index) => Math.round(part * share + under[index] * (1 - share))).join(",")})`;
}

function show(name) {
  page.dataset.theme = name;
  events.dispatchEvent(new Event("change"));
}

function kept() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

const preferred = () => kept() ?? (SYSTEM.matches ? "dark" : "light");
SYSTEM.addEventListener("change", () => show(preferred()));
show(preferred());
