// The actions that the page offers now, for the command palette: its buttons, links that look like one, tabs and menu items. They are read from the
// page itself, so that a new one is found without a list.

export type PageAction = {
  readonly label: string
  /** Heading of the section that contains it. */
  readonly section: string | undefined
  readonly run: () => void
}

const elements = 'button, a.mantine-Button-root, [role=tab]'
/** One of many rows or cells: its words do not tell which. A trigger of a page menu: its items are listed. */
const left = 'tr *, [role=row] *, [data-at], [data-page-menu]'
/** The current tab, and entries of a legend, which show or hide a series. */
const chosen = '[aria-selected=true], [data-legend] *'
const disabled = ':disabled, [data-disabled], [aria-disabled=true]'

/** Returns the actions in the order of the page; of actions with the same words in a section, none. */
export function readPageActions(): readonly PageAction[] {
  const page = document.querySelector('[data-page]')
  const found = [...(page?.querySelectorAll<HTMLElement>(elements) ?? [])].filter(isOffered).map(actionOf)
  const alike = Map.groupBy(found, ({ label, section }) => `${section}\n${label}`)
  return found.filter(({ label, section }) => label !== '' && alike.get(`${section}\n${label}`)!.length === 1)
}

/**
 * Returns the action with this `data-action` once the page of the current address offers it; undefined if it does not within `ms`. The page before is
 * shown until that one is rendered, and may offer the same for another object.
 */
export async function whenOffered(name: string, ms: number): Promise<PageAction | undefined> {
  const { promise, resolve } = Promise.withResolvers<PageAction | undefined>()
  const look = () => {
    const page = document.querySelector<HTMLElement>('[data-page]')
    const { pathname, search, hash } = window.location
    if (page?.dataset['href'] !== pathname + search + hash) return
    const element = page.querySelector<HTMLElement>(`[data-action="${name}"]`)
    if (element && isOffered(element)) resolve(actionOf(element))
  }
  const observer = new MutationObserver(look)
  observer.observe(document.body, { subtree: true, childList: true, attributes: true })
  const timer = setTimeout(resolve, ms, undefined)
  look()
  return promise.finally(() => {
    observer.disconnect()
    clearTimeout(timer)
  })
}

/** Items of a closed menu of the page are in the document, and not visible. */
const isOffered = (element: HTMLElement): boolean =>
  !element.matches(`${disabled}, ${chosen}, ${left}`) &&
  (element.checkVisibility() || element.role === 'menuitem')

function actionOf(element: HTMLElement): PageAction {
  const heading = element.closest('section[aria-labelledby]')?.getAttribute('aria-labelledby')
  return {
    label: wordsOf(element),
    section: (heading && document.getElementById(heading)?.textContent) || undefined,
    run: () => {
      element.focus()
      element.click()
    },
  }
}

/** Returns the accessible name, and the tab's count after it. */
function wordsOf(element: HTMLElement): string {
  const label = element.getAttribute('aria-label')
  if (label !== null) return label
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  const parts = new Map<Node, string>()
  while (texts.nextNode()) {
    const { parentNode, textContent } = texts.currentNode
    parts.set(parentNode!, (parts.get(parentNode!) ?? '') + textContent)
  }
  return [...parts.values()].join(' ').trim()
}
