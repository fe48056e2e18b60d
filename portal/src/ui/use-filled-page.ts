// Tells the page that there is a list in it which takes the rest of its height, and what lies between them.
import { useLayoutEffect, type RefObject } from 'react'

export function useFilledPage(list: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const page = list.current?.closest<HTMLElement>('[data-page]')
    if (!page) return undefined
    const between: HTMLElement[] = []
    for (let one = list.current!.parentElement; one && one !== page; one = one.parentElement)
      between.push(one)
    page.dataset['filled'] = ''
    for (const one of between) one.dataset['around'] = ''
    return () => {
      delete page.dataset['filled']
      for (const one of between) delete one.dataset['around']
    }
  }, [list])
}
