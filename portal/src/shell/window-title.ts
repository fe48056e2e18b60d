// The title and the icon of the browser's tab: they show ongoing attacks while the user looks elsewhere.
import { useEffect } from 'react'
import { usePageTitle } from '../ui/page-title.ts'
import { brand } from '../ui/brand.ts'

export function useWindowTitle(attacks: number | undefined): void {
  const title = usePageTitle()
  useEffect(() => {
    const name = title === '' ? brand.name : `${title} · ${brand.name}`
    document.title = attacks ? `(${attacks}) ${name}` : name
  }, [title, attacks])
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (icon) icon.href = attacks ? '/favicon-alert.svg' : '/favicon.svg'
  }, [attacks])
}
