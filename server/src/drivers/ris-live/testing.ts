// For tests: a server that speaks RIS Live (https://ris-live.ripe.net/manual/) on loopback, with scripted peers, and an endpoint
// that returns tables as RIPEstat does.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'
import { covers, parsePrefix, type Prefix } from '../../net/prefix.ts'

type Subscription = {
  type?: string
  prefix?: string
  moreSpecific?: boolean
  lessSpecific?: boolean
}

type Client = { readonly socket: WebSocket; subscriptions: Subscription[] }

export type RisPeer = { readonly address: string; readonly asn: number }

/** Three peers of each family. */
export const risPeers: readonly RisPeer[] = [1, 2, 3].flatMap((n) => [
  { address: `192.0.2.${n}`, asn: 64600 + n },
  { address: `2001:db8:ffff::${n}`, asn: 64600 + n },
])

const isSix = (text: string): boolean => text.includes(':')

export class FakeRis {
  readonly #http: Server
  readonly #sockets: WebSocketServer
  readonly #clients = new Set<Client>()
  /** Current routes, by prefix: the origin. */
  readonly #routes = new Map<Prefix, number>()
  /** While true, new connections are refused. */
  #isHidden = false
  /** While false, pings are not answered. */
  answersPings = true
  connections = 0
  tableRequests: string[] = []
  /** The age of the tables that are returned. */
  tableAgeMs = 0
  /** Requests for tables fail with this HTTP status. */
  tableStatus = 200

  private constructor() {
    this.#http = createServer((request, response) => {
      const resource = new URL(request.url!, 'http://localhost').searchParams.get('resource') ?? ''
      this.tableRequests.push(resource)
      response.statusCode = this.tableStatus
      response.end(JSON.stringify(this.#table(resource.split(','))))
    })
    this.#sockets = new WebSocketServer({ noServer: true })
    this.#http.on('upgrade', (request, socket, head) => {
      if (this.#isHidden) return socket.destroy()
      this.#sockets.handleUpgrade(request, socket, head, (accepted) => this.#accept(accepted))
    })
  }

  static async start(): Promise<FakeRis> {
    const fake = new FakeRis()
    await new Promise<void>((resolve) => fake.#http.listen(0, '127.0.0.1', resolve))
    return fake
  }

  get #port(): number {
    return (this.#http.address() as AddressInfo).port
  }

  url({ table = false, query = '' } = {}): string {
    const suffix = table ? `&table=${encodeURIComponent(this.tableUrl)}` : ''
    return `ws://127.0.0.1:${this.#port}/v1/ws/?client=test${suffix}${query}`
  }

  get tableUrl(): string {
    return `http://127.0.0.1:${this.#port}/data/bgp-state/data.json`
  }

  async stop(): Promise<void> {
    this.drop()
    this.#http.closeAllConnections()
    await new Promise((resolve) => this.#http.close(resolve))
  }

  /** Refuses new connections and ends open ones. */
  hide(): void {
    this.#isHidden = true
    this.drop()
  }

  show(): void {
    this.#isHidden = false
  }

  drop(): void {
    for (const { socket } of this.#clients) socket.terminate()
  }

  /** The prefixes that a client is subscribed to now, without repetitions. */
  subscribed(): string[] {
    const all = [...this.#clients].flatMap(({ subscriptions }) =>
      subscriptions.map(({ prefix }) => prefix ?? ''),
    )
    return [...new Set(all)].filter((prefix) => prefix !== '').toSorted()
  }

  /** Sends an UPDATE of each peer of the family. Without an origin, withdrawals. */
  update(
    prefix: Prefix,
    origin: number | null,
    { quiet = false, of = risPeers, at = Date.now() } = {},
  ): void {
    if (origin === null) this.#routes.delete(prefix)
    else this.#routes.set(prefix, origin)
    if (quiet) return
    for (const peer of of.filter(({ address }) => isSix(address) === isSix(prefix)))
      this.sendUpdate(peer, prefix, origin, at)
  }

  /** The path leads through `provider`. */
  sendUpdate(
    { address, asn }: RisPeer,
    prefix: Prefix,
    origin: number | null,
    at = Date.now(),
    provider = 64500,
  ): void {
    const common = {
      timestamp: at / 1000,
      peer: address,
      peer_asn: String(asn),
      id: '21-1',
      host: 'rrc21.ripe.net',
    }
    const data =
      origin === null
        ? { ...common, type: 'UPDATE', withdrawals: [prefix] }
        : {
            ...common,
            type: 'UPDATE',
            path: [asn, provider, origin],
            origin: 'igp',
            announcements: [{ next_hop: address, prefixes: [prefix] }],
          }
    for (const client of this.#clients)
      if (client.subscriptions.some((one) => one.type !== 'RIS_PEER_STATE' && matches(one, prefix)))
        client.socket.send(JSON.stringify({ type: 'ris_message', data }))
  }

  sendPeerDown({ address, asn }: RisPeer): void {
    const data = {
      timestamp: 1,
      peer: address,
      peer_asn: String(asn),
      host: 'rrc21',
      type: 'RIS_PEER_STATE',
      state: 'down',
    }
    for (const client of this.#clients)
      if (client.subscriptions.some(({ type }) => type === 'RIS_PEER_STATE'))
        client.socket.send(JSON.stringify({ type: 'ris_message', data }))
  }

  /** Sends a text as it is to every client. */
  sendRaw(text: string): void {
    for (const { socket } of this.#clients) socket.send(text)
  }

  /** Like the server for a client that reads too slowly: a last error, then the end of the connection. */
  endSlowClients(): void {
    for (const { socket } of this.#clients) {
      socket.send(JSON.stringify({ type: 'ris_error', data: { message: 'client too slow' } }))
      socket.close(1008, 'too slow')
    }
  }

  #accept(socket: WebSocket): void {
    this.connections++
    const client: Client = { socket, subscriptions: [] }
    this.#clients.add(client)
    socket.on('close', () => this.#clients.delete(client))
    socket.on('message', (data) => {
      const { type, data: fields } = JSON.parse((data as Buffer).toString('utf8')) as {
        type: string
        data: Subscription | null
      }
      if (type === 'ris_subscribe') client.subscriptions.push(fields ?? {})
      if (type === 'ris_unsubscribe')
        client.subscriptions = client.subscriptions.filter(({ prefix }) => prefix !== fields?.prefix)
      if (type === 'ping' && this.answersPings) socket.send(JSON.stringify({ type: 'pong', data: null }))
    })
  }

  #table(resources: readonly string[]) {
    const asked = resources.map((text) => parsePrefix(text))
    const routes = [...this.#routes].filter(([prefix]) => asked.some((one) => covers(one, prefix)))
    return {
      status: 'ok',
      data: {
        resource: resources.join(','),
        query_time: new Date(Date.now() - this.tableAgeMs).toISOString().slice(0, 23),
        nr_routes: routes.length,
        bgp_state: routes.flatMap(([prefix, origin]) =>
          risPeers
            .filter(({ address }) => isSix(address) === isSix(prefix))
            .map(({ address, asn }) => ({
              target_prefix: prefix,
              source_id: `21-${address}`,
              path: [asn, 64500, origin],
              community: [],
            })),
        ),
      },
    }
  }
}

function matches(
  { prefix, moreSpecific = true, lessSpecific = false }: Subscription,
  changed: Prefix,
): boolean {
  if (prefix === undefined) return true
  const wanted = parsePrefix(prefix)
  return (
    wanted === changed ||
    (moreSpecific && covers(wanted, changed)) ||
    (lessSpecific && covers(changed, wanted))
  )
}
