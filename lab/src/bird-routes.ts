// Parses the output of BIRD 2 for `show route all`. Pure; it supports that one command only.

/** A route as BIRD prints it; the path starts with the neighbor itself. */
export type BirdRoute = {
  readonly prefix: string
  readonly asPath: readonly number[]
  readonly nextHop: string
  readonly communities: readonly string[]
  readonly largeCommunities: readonly string[]
}

/** One route per paragraph: a line with the prefix and its protocol, then indented `name: value` lines. */
export function parseBirdRoutes(text: string): BirdRoute[] {
  const routes: BirdRoute[] = []
  let prefix = ''
  let attributes = new Map<string, string>()
  const finish = (): void => {
    if (attributes.size > 0) routes.push(routeOf(prefix, attributes))
    attributes = new Map()
  }
  let name = ''
  for (const line of text.split('\n')) {
    const head = /^([0-9a-f.:]+\/\d+)?\s.*\[\w+ \d/.exec(line)
    const attribute = /^\t([\w.]+): ?(.*)$/.exec(line)
    if (attribute) attributes.set((name = attribute[1]!), attribute[2]!)
    else if (line.startsWith('\t\t')) attributes.set(name, `${attributes.get(name)} ${line.trim()}`)
    else if (head) {
      finish()
      prefix = head[1] ?? prefix
    }
  }
  finish()
  return routes
}

function routeOf(prefix: string, attributes: ReadonlyMap<string, string>): BirdRoute {
  const text = (name: string): string => attributes.get(`BGP.${name}`) ?? ''
  return {
    prefix,
    asPath: text('as_path').split(' ').filter(Boolean).map(Number),
    nextHop: text('next_hop').split(' ')[0] ?? '',
    communities: tuples(text('community')),
    largeCommunities: tuples(text('large_community')),
  }
}

/** `(64500, 1, 2) (64500, 3, 4)` as `64500:1:2`, `64500:3:4`. */
function tuples(text: string): string[] {
  return [...text.matchAll(/\(([\d, ]+)\)/g)].map(([, inside]) => inside!.split(/, ?/).join(':'))
}
