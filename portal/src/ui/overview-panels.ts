// The panels of the overview as a list: the built-in ones, and changes of the list. Pure.
import { panelsMax, type ViewPanel } from '@pharos/contract/team/view'

/** Panels that the portal can show; stored ones may have other kinds, which stay in the list. */
export const panelKindNames = [
  'services',
  'todo',
  'traffic',
  'attacks',
  'largest',
  'regions',
  'announcements',
  'facilities',
  'ports',
  'bills',
  'zones',
] as const
export type PanelKindName = (typeof panelKindNames)[number]

/** The module of the objects that a kind shows; undefined for kinds of several modules. */
export const modulesOfPanels: Readonly<Record<PanelKindName, string | undefined>> = {
  services: undefined,
  todo: undefined,
  traffic: 'lighthouse',
  attacks: 'lighthouse',
  largest: 'lighthouse',
  regions: 'ipam',
  announcements: 'ipam',
  facilities: 'inventory',
  ports: 'inventory',
  bills: 'inventory',
  zones: 'dns',
}

/** Longest title of a panel. */
export const titleMax = 60

export const newPanel = (kind: string, rest: Partial<ViewPanel> = {}): ViewPanel => ({
  kind,
  width: 'half',
  height: 'normal',
  title: '',
  search: '',
  ...rest,
})

const builtIn: readonly ViewPanel[] = [
  newPanel('services', { width: 'full' }),
  newPanel('traffic', { width: 'full' }),
  newPanel('attacks'),
  newPanel('todo'),
  newPanel('announcements'),
  newPanel('regions'),
  newPanel('largest'),
  newPanel('facilities'),
]

/** Returns the panels of a person and a team without stored ones, for the modules that the person sees. */
export const builtInPanels = (has: (module: string) => boolean): readonly ViewPanel[] =>
  filled(
    builtIn.filter(({ kind }) => {
      const module = modulesOfPanels[kind as PanelKindName]
      return module === undefined || has(module)
    }),
  )

/** Returns the panels with a panel that is alone in its row as wide as the page. */
export function filled(panels: readonly ViewPanel[]): readonly ViewPanel[] {
  let used = 0
  return panels.map((panel, at) => {
    const next = panels[at + 1]
    used += columnsOf[panel.width]
    const isLast = next === undefined || used + columnsOf[next.width] > columns
    const isAlone = isLast && used < columns && used === columnsOf[panel.width]
    if (isLast) used = 0
    return isAlone ? { ...panel, width: 'full' as const } : panel
  })
}

const columns = 12
const columnsOf: Readonly<Record<ViewPanel['width'], number>> = { third: 4, half: 6, two_thirds: 8, full: 12 }

/** Returns the list with the element at `from` moved to the place `to`, which is limited to the list. */
export function moved<T>(list: readonly T[], from: number, to: number): readonly T[] {
  const place = Math.max(0, Math.min(list.length - 1, to))
  const element = list[from]
  if (element === undefined || place === from) return list
  const rest = list.toSpliced(from, 1)
  return rest.toSpliced(place, 0, element)
}

export const canAdd = (panels: readonly unknown[]): boolean => panels.length < panelsMax
