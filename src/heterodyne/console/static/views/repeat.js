// Does something again while the page is looked at: a page in the background asks nothing.

// repeat(5, refresh) -> a function that ends it
export function repeat(everyS, act) {
  const clock = setInterval(() => {
    if (!document.hidden) act();
  }, everyS * 1000);
  const back = () => {
    if (!document.hidden) act();
  };
  document.addEventListener("visibilitychange", back);
  return () => {
    clearInterval(clock);
    document.removeEventListener("visibilitychange", back);
  };
}
