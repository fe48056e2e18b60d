// The product as a hidden primary, for the benchmarks of DNS: a team with a signed-in user, calls of its API, and the name servers that follow.
import type { Client } from 'pg'
import type { Follower } from '../../lab/src/dns-follower.ts'
import { nameKey, parseName, type DomainName } from '../../server/src/net/dns/name.ts'
import type { TsigKey } from '../../server/src/net/dns/tsig.ts'
import { createKeyRing, seal } from '../../server/src/runtime/secrets.ts'
import type { Role } from '../../server/src/runtime/role.ts'
import type { Bench } from './benchmark.ts'
import { ask, HttpConnection, renderRequest } from './http-connection.ts'
import { seedTeams, seedUsers, signIn } from './people.ts'
import { productSecret, startProduct, type Product } from './product.ts'

/** The key of all transfers of the bench. */
export const transferKey: TsigKey = {
  name: parseName('transfer.bench.'),
  algorithm: 'hmac-sha256',
  secret: Buffer.alloc(32, 'k'),
}

/** The name of the catalog zone by default. */
export const catalogZone = 'catalog.pharos.invalid.'

export type Called = { readonly ms: number; readonly status: number; readonly body: string }

export type DnsProduct = AsyncDisposable & {
  readonly product: Product
  readonly databaseUrl: string
  /** A connection to its database. */
  readonly client: Client
  /** Address of its name server. */
  readonly address: string
  readonly port: number
  /** Sends a request below `/v3/dns` as the user; throws if it is not successful. */
  call(method: string, path: string, body?: unknown): Promise<Called>
}

export type DnsProductOptions = {
  readonly roles?: readonly Role[]
  /** Writes rows before the product starts. */
  readonly seed?: (client: Client) => Promise<void>
  readonly settings?: Readonly<Record<string, string>>
}

/** Starts the product with a database without zones and name servers. */
export async function startDnsProduct(
  bench: Bench,
  { roles = ['api', 'reconciler', 'nameserver'], seed, settings = {} }: DnsProductOptions = {},
): Promise<DnsProduct> {
  const postgres = await (await bench.cluster()).database('dns', seedAccounts)
  const { databaseUrl } = postgres
  await using stack = new AsyncDisposableStack()
  const client = await postgres.directConnection()
  stack.defer(() => client.end())
  await client.query(
    'truncate dns_zones, dns_recordsets, dns_versions, dns_servers, dns_tsig_keys, prefixes cascade',
  )
  await seed?.(client)
  const product = stack.use(
    await startProduct({
      roles,
      databaseUrl,
      folder: bench.folder,
      // Its zones are below `test.`.
      settings: { PHAROS_ALLOW_DOCUMENTATION_RESOURCES: 'true', ...settings },
    }),
  )
  const [{ access } = { access: '' }] = roles.includes('api') ? await signIn(product.url, 1) : []
  let connection: HttpConnection | undefined
  stack.defer(() => connection?.close())
  const owned = stack.move()
  const [, address = '', port = ''] = /^(.*):(\d+)$/.exec(product.dns) ?? []
  return {
    product,
    databaseUrl,
    client,
    address,
    port: Number(port),
    async call(method, path, body) {
      if (!connection || connection.isClosed) connection = await HttpConnection.open(product.url)
      const request = renderRequest(new URL(product.url).host, {
        method,
        path: `/v3/dns${path}`,
        authorization: `Bearer ${access}`,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const start = performance.now()
      const answer = await ask(connection, request)
      const ms = performance.now() - start
      if (answer.status >= 300)
        throw new Error(`${method} ${path}: ${answer.status} ${answer.body.slice(0, 2000)}`)
      return { ms, ...answer }
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function seedAccounts(client: Client): Promise<void> {
  await seedTeams(client, 1)
  await seedUsers(client, 1, 1)
  await client.query(
    `insert into dns_defaults (key, hostmaster, minimum_ttl, zones_max, recordsets_max)
     values ('dns', 'hostmaster.bench.test.', 60, 1000000, 2000000)`,
  )
}

/** Makes these name servers follow; `catalog`: they learn their zones from the catalog zone. */
export async function addFollowers(
  client: Client,
  followers: readonly (Pick<Follower, 'name' | 'address' | 'port'> & { readonly catalog: boolean })[],
): Promise<void> {
  const { name, algorithm, secret } = transferKey
  const sealed = seal(createKeyRing([productSecret]), 'tsig-key', secret, name)
  const { rows } = await client.query<{ id: number }>(
    'insert into dns_tsig_keys (name, algorithm, secret_sealed) values ($1, $2, $3) returning id',
    [name, algorithm, sealed],
  )
  for (const follower of followers)
    await client.query(
      'insert into dns_servers (name, address, port, tsig_key_id, catalog) values ($1, $2, $3, $4, $5)',
      [
        `${follower.name.toLowerCase()}.bench.test.`,
        follower.address,
        follower.port,
        rows[0]!.id,
        follower.catalog,
      ],
    )
  await client.query(`select pg_notify('pharos', 'dns')`)
}

/** The key of a name as a bytea. */
export const keyOf = (name: DomainName): Buffer => Buffer.from(nameKey(name))
