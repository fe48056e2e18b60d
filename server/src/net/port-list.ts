// Ports and ranges of ports, as settings have them: `53`, `5300-5399`.

type PortRange = { readonly first: number; readonly last: number }

export type PortList = readonly PortRange[]

/** Throws an Error if a text is not a port from 1 to 65535, or a range of them. */
export function parsePorts(texts: readonly string[]): PortList {
  return texts.map((text) => {
    const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? []
    const range = { first: Number(first), last: Number(last) }
    if (first === undefined || range.first < 1 || range.last > 65_535 || range.first > range.last)
      throw new Error(`${text} is not a port from 1 to 65535, such as 53, or a range such as 5300-5399`)
    return range
  })
}

export const hasPort = (ports: PortList, port: number): boolean =>
  ports.some(({ first, last }) => first <= port && port <= last)

/** `53, 5300-5399`. */
export const printPorts = (ports: PortList): string =>
  ports.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(', ')
