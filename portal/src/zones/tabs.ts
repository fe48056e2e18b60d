// The tabs of a zone's page, as its address names them.
export const tabsOfZone = ['records', 'dnssec', 'servers', 'import', 'settings', 'history'] as const
export type ZoneTab = (typeof tabsOfZone)[number]
