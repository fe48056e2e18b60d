// Why a request has no route: the method is wrong, or the path, with the most similar path. Knows all routes of the
// server, including pages.
import type { FastifyInstance } from 'fastify'
import { fail, type Failure } from '../runtime/error.ts'
import { nearestName } from '../text/did-you-mean.ts'

export type KnownPaths = {
  /** Returns the methods of a path, for the `Allow` header; empty if there is no such path. */
  methodsOf(path: string): string[]
  /** Returns the 404 of an unknown path. */
  notFound(path: string): Failure
}

const methodOrder = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Collects the routes of a server; call it before the first route is added. */
export function collectPaths(server: FastifyInstance): KnownPaths {
  const patterns = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()
  server.addHook('onRoute', ({ url, method }) => {
    if (url.endsWith('*')) return
    const known = patterns.get(url) ?? { pattern: patternOf(url), methods: new Set() }
    patterns.set(url, known)
    for (const one of [method].flat()) known.methods.add(one)
  })
  const methodsOf = (path: string): string[] => {
    const methods = patterns
      .values()
      .filter(({ pattern }) => pattern.test(path))
      .flatMap((known) => known.methods)
    return [...new Set(methods)].toSorted((a, b) => methodOrder.indexOf(a) - methodOrder.indexOf(b))
  }
  return {
    methodsOf,
    notFound(path) {
      const plain = path.replaceAll(/\/{2,}/g, '/').replace(/(?<=.)\/$/, '')
      if (plain !== path && methodsOf(plain).length > 0)
        return fail('not_found', path.endsWith('/') ? 'trailingSlash' : 'doubleSlash', { path: plain })
      const meant = [plain.toLowerCase(), `/v3${plain}`].find((one) => methodsOf(one).length > 0)
      const similar =
        meant ?? (plain.length > pathLengthMax ? undefined : nearestName(plain, pathsLike(plain)))
      return similar === undefined
        ? fail('not_found', 'path')
        : fail('not_found', 'similarPath', { path: similar })
    },
  }

  /** The paths of the API with as many segments, with the parameters of the given one. */
  function pathsLike(path: string): string[] {
    const given = path.split('/')
    return patterns
      .keys()
      .map((url) => url.split('/'))
      .filter((segments) => segments.length === given.length && segments[1] === 'v3')
      .map((segments) => segments.map((segment, at) => (segment[0] === ':' ? given[at] : segment)).join('/'))
      .toArray()
  }
}

/** A longer path is not compared: the time of the comparison grows with its length. */
const pathLengthMax = 100

const patternOf = (url: string): RegExp =>
  new RegExp(`^${url.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+')}$`)
