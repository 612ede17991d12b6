/** Does something with the next frame, so that what comes fast is shown once. A page that is not seen gets no frames. */
export function nextPaint(work: () => void): void {
  let isDone = false;
  const once = (): void => {
    if (!isDone) work();
    isDone = true;
  };
  if (!document.hidden) requestAnimationFrame(once);
  setTimeout(once, 100);
}
