// The process that generates the load: takes one plan, sends one result, ends. It measures each request from the time at
// which it was due: a server that stops for a second then has a second's worth of late answers, not one.
import { once } from 'node:events'
import { quantile } from '../../lab/src/measure.ts'
import { HttpConnection, renderRequest } from './http-connection.ts'
import type { ProcessPlan, ProcessResult } from './load.ts'

type Client = {
  readonly connection: HttpConnection
  /** The next request. */
  next(): string
  /** Takes the body of the answer, if the next request depends on it. */
  readonly take: ((body: string) => void) | undefined
  readonly bytesMin: number
  readonly takesRefusals: boolean
  token: string
}

const statuses: Record<number, number> = {}

const [plan] = (await once(process, 'message')) as [ProcessPlan]
try {
  process.send?.(await measure(plan))
} catch (error) {
  process.send?.({ error: (error as Error).message })
}
process.disconnect?.()

async function measure(plan: ProcessPlan): Promise<ProcessResult> {
  // Once for all connections, and before they are opened: it can take longer than a server waits for a request.
  const texts = renderAll(plan)
  const clients = await Promise.all(
    Array.from({ length: plan.connections }, (_, at) => createClient(plan, texts, at)),
  )
  const cpuBefore = process.cpuUsage()
  const start = performance.now()
  const samples =
    plan.perSecond === undefined ? await closed(clients, plan) : await open(clients, plan, plan.perSecond)
  const seconds = (performance.now() - start) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  for (const { connection } of clients) connection.close()
  return {
    answers: samples.length,
    perSecond: samples.length / seconds,
    p50Ms: quantile(samples, 0.5),
    p99Ms: quantile(samples, 0.99),
    maxMs: samples.reduce((a, b) => Math.max(a, b), 0),
    statuses,
    clientMicros: (user + system) / samples.length,
    tokens: clients.map(({ token }) => token),
  }
}

async function createClient(
  { url, source, takesRefusals = false }: ProcessPlan,
  texts: readonly string[],
  at: number,
): Promise<Client> {
  const connection = await HttpConnection.open(url)
  return source.kind === 'list'
    ? { ...listClient(connection, texts, source.bytesMin, at), takesRefusals }
    : refreshClient(connection, new URL(url).host, source.tokens[at]!)
}

function renderAll({ url, source }: ProcessPlan): string[] {
  const { host } = new URL(url)
  return source.kind === 'list' ? source.requests.map((request) => renderRequest(host, request)) : []
}

function listClient(
  connection: HttpConnection,
  texts: readonly string[],
  bytesMin: number,
  at: number,
): Omit<Client, 'takesRefusals'> {
  // Odd steps through the list, so that connections do not request the same at the same time.
  let place = at * 7919
  return { connection, next: () => texts[place++ % texts.length]!, take: undefined, bytesMin, token: '' }
}

function refreshClient(connection: HttpConnection, host: string, token: string): Client {
  const client = {
    connection,
    token,
    bytesMin: 1,
    takesRefusals: false,
    next: () =>
      renderRequest(host, {
        method: 'POST',
        path: '/v3/session/refresh',
        body: `{"refresh":"${client.token}"}`,
      }),
    take: (body: string) => {
      client.token = /"refresh":"([^"]+)"/.exec(body)![1]!
    },
  }
  return client
}

/** Each connection sends when it has its answer. */
function closed(clients: readonly Client[], { seconds, answers }: ProcessPlan): Promise<number[]> {
  const samples: number[] = []
  const endAt = performance.now() + seconds * 1000
  let sent = 0
  const hasMore = () => (answers === undefined ? performance.now() < endAt : sent < answers)
  return Promise.all(
    clients.map(
      (client) =>
        new Promise<void>((resolve, reject) => {
          const go = () => {
            const due = performance.now()
            sent++
            send(client, reject, () => {
              samples.push(performance.now() - due)
              if (hasMore()) go()
              else resolve()
            })
          }
          go()
        }),
    ),
  ).then(() => samples)
}

/** Requests are due at random times; a request without a free connection waits, and its waiting counts. */
function open(clients: readonly Client[], { seconds }: ProcessPlan, perSecond: number): Promise<number[]> {
  const samples: number[] = []
  const free = [...clients]
  const waiting: number[] = []
  const start = performance.now()
  const endAt = start + seconds * 1000
  let due = start + gapMs(perSecond)
  let inFlight = 0
  return new Promise((resolve, reject) => {
    const sendOne = (client: Client, dueAt: number) => {
      inFlight++
      send(client, reject, () => {
        inFlight--
        samples.push(performance.now() - dueAt)
        const next = waiting.shift()
        if (next === undefined) free.push(client)
        else sendOne(client, next)
      })
    }
    const tick = () => {
      const now = performance.now()
      for (; due <= now && due < endAt; due += gapMs(perSecond)) {
        const client = nextIdle(free)
        if (client) sendOne(client, due)
        else waiting.push(due)
      }
      if (due < endAt || inFlight > 0) setTimeout(tick, 1)
      else if (waiting.length > 0) reject(new Error('the server has ended all connections'))
      else resolve(samples)
    }
    tick()
  })
}

/** The longest idle connection that the server has not closed. */
function nextIdle(free: Client[]): Client | undefined {
  for (;;) {
    const client = free.shift()
    if (!client?.connection.isClosed) return client
  }
}

function gapMs(perSecond: number): number {
  return (-Math.log(1 - Math.random()) * 1000) / perSecond
}

function send(client: Client, failed: (error: Error) => void, done: () => void): void {
  const { connection, take, bytesMin, takesRefusals } = client
  connection.send(client.next(), take !== undefined, (status, length, body) => {
    statuses[status] = (statuses[status] ?? 0) + 1
    if (!takesRefusals && (status < 200 || status > 299)) return failed(new Error(`answered ${status}`))
    if (length < bytesMin) return failed(new Error(`answered only ${length} bytes`))
    take?.(body!)
    done()
  })
}
