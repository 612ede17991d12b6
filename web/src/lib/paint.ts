/** Runs a callback once before the next paint, to batch updates. The timer covers hidden pages, which do not paint. */
export function nextPaint(work: () => void): void {
  let isDone = false;
  const once = (): void => {
    if (!isDone) work();
    isDone = true;
  };
  if (!document.hidden) requestAnimationFrame(once);
  setTimeout(once, 100);
}
