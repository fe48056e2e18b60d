// The peer of ID5: scimmy with handlers in memory, behind node:http. Sends its port to its parent.
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import SCIMMY from 'scimmy'

type Stored = { id: string; [name: string]: unknown }
type Handled = { id?: string; filter?: { match(values: Stored[]): Stored[] } }

/** Keeps resources as they are. */
function keepIn(store: Map<string, Stored>) {
  return {
    ingress(resource: Handled, data: object): Stored {
      const id = resource.id ?? randomUUID()
      const stored = { ...(JSON.parse(JSON.stringify(data)) as object), id }
      store.set(id, stored)
      return stored
    },
    egress(resource: Handled): Stored | Stored[] {
      if (resource.id !== undefined) return store.get(resource.id)!
      const all = [...store.values()]
      return resource.filter ? resource.filter.match(all) : all
    },
    degress: (resource: Handled): void => void store.delete(resource.id!),
  }
}

const { User, Group } = SCIMMY.Resources
for (const [Type, store] of [
  [User, new Map<string, Stored>()],
  [Group, new Map<string, Stored>()],
] as const) {
  const handlers = keepIn(store)
  SCIMMY.Resources.declare(Type, {
    ingress: handlers.ingress,
    egress: handlers.egress,
    degress: handlers.degress,
  } as never)
}

const types = { Users: User, Groups: Group } as const

async function bodyOf(request: IncomingMessage): Promise<object> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString()) as object
}

const sliceOf = (query: URLSearchParams) => ({
  startIndex: Number(query.get('startIndex') ?? 1),
  count: Number(query.get('count') ?? 100),
})

async function answer(request: IncomingMessage): Promise<unknown> {
  const url = new URL(request.url!, 'http://peer')
  const Type = types[url.pathname.split('/')[3] as keyof typeof types]
  if (request.method === 'POST') return new Type(undefined).write((await bodyOf(request)) as never)
  return new Type(undefined, sliceOf(url.searchParams)).read()
}

const server = createServer((request, response) => {
  answer(request).then(
    (body) => response.setHeader('content-type', 'application/scim+json').end(JSON.stringify(body)),
    (error: unknown) => response.writeHead(500).end(String(error)),
  )
})
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port))
