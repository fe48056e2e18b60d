// How customers are shown a registry source: by its kind, and of the IRR by its registries. Where it is (a host, a port, a
// path) is for the operator, in the log and the metrics.

const kinds: Readonly<Record<'rpki' | 'irr', Readonly<Record<string, string>>>> = {
  rpki: {
    'rtr:': 'RTR cache',
    'rtrs:': 'RTR cache',
    'file:': 'VRP export',
    'http:': 'VRP export',
    'https:': 'VRP export',
  },
  irr: { 'whois:': 'IRR server', 'file:': 'IRR dump' },
}

/** `RTR cache` for `rtr://10.0.0.5:323`, `IRR server (RADB,RIPE)` for `whois://10.0.0.6:43 (RADB,RIPE)`. A name that is no URL stays. */
export function sourceLabel(registry: 'rpki' | 'irr', name: string): string {
  const kind = kinds[registry][/^[a-z]+:/.exec(name)?.[0] ?? '']
  if (kind === undefined) return name
  const registries = / (\([A-Z0-9,_-]+\))$/.exec(name)?.[1]
  return registries === undefined ? kind : `${kind} ${registries}`
}
