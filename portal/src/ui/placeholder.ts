/** Returns the attributes of an element that shows an earlier answer until the next one is loaded: dimmed, and busy for readers. */
export const placeholderProps = (isPlaceholder: boolean) =>
  isPlaceholder ? ({ 'aria-busy': true, 'data-placeholder': true } as const) : {}
