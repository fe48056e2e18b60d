// On paper a page has the light colors, whatever the theme of the screen, and charts the width of the paper. A style sheet alone cannot do
// it: charts are drawn.

const scheme = 'data-mantine-color-scheme'
const printing = 'data-printing'
/** Attributes of the document element on which the colors of drawings depend. */
export const drawnAttributes = [scheme, printing]

/** Width of a card on A4 paper, in CSS pixels. */
const paperWidth = 680

/** Returns the width of a drawing that is as wide as the element. */
export const drawnWidth = ({ clientWidth }: Element): number =>
  document.documentElement.hasAttribute(printing) ? Math.min(clientWidth, paperWidth) : clientWidth

/** Call it once. */
export function preparePrinting(): void {
  let shown: string | null = null
  const { documentElement: root } = document
  addEventListener('beforeprint', () => {
    shown = root.getAttribute(scheme)
    root.setAttribute(scheme, 'light')
    root.setAttribute(printing, '')
  })
  addEventListener('afterprint', () => {
    root.removeAttribute(printing)
    if (shown !== null) root.setAttribute(scheme, shown)
  })
}
