// All routes of a server, including pages, which the contract does not list.
import type { FastifyInstance } from 'fastify'

export type PrintedRoute = {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path parameters are `1`, the rest of a wildcard is `anything`. */
  readonly url: string
}

/** Parses the route tree that the framework prints, with four characters of indentation per level. */
export function printedRoutes(server: FastifyInstance): PrintedRoute[] {
  const path: string[] = []
  return server
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indentation, part, methods] = /^([│ ]*)[├└]── (\S+) \((.+)\)$/.exec(line) ?? []
      if (part === undefined) return []
      const level = indentation!.length / 4
      path.splice(level, path.length, part)
      const url = path.join('').replace(/:\w+/g, '1').replace(/\/?\*/, '/anything')
      return methods!.split(', ').map((method) => ({ method: method as PrintedRoute['method'], url }))
    })
}
