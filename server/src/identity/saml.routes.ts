// The pages of SAML: the assertion consumer service (ACS), to which a browser posts the answer of the identity provider, and our metadata. The ACS stores the answer
// and redirects to the page of the portal, whose own request has the cookie of the browser: a POST of another site has none, and signs nobody in.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../db/postgres.ts'
import { requireIdentity, requireUtf8 } from '../http/body-type.ts'
import { isReceiving, textBeforeRest } from '../http/discard.ts'
import { networkOfClient, type ClientLimiter } from '../runtime/client-limiter.ts'
import { fail, notFound } from '../runtime/error.ts'
import type { KeyRing } from '../runtime/secrets.ts'
import { createSemaphore } from '../runtime/semaphore.ts'
import { findAwaited, saveSamlResponse } from './flow.ts'
import { redirectUriOf, serviceProviderOf } from './open-provider.ts'

export type SamlPageDeps = {
  readonly db: Db
  readonly ring: KeyRing
  readonly publicUrl: string
  readonly clients: ClientLimiter
  /** Writes our metadata for an entity id and the URL of an ACS. */
  readonly writeMetadata: (entityId: string, acsUrl: string) => string
}

/** Of the form, whose base64 is a third longer than the answer. */
const formBytesMax = 256 * 1024
/** Forms that are in memory at the same time. */
const formsAtOnce = 32
/** Of these, from one client: its slow forms must not keep out those of others. */
const formsOfClientMax = 8
const retryAfterSeconds = 1

type OfProvider = { Params: { key: string } }
type SamlForm = { readonly samlResponse: string | null; readonly relayState: string | null }
const noForm: SamlForm = { samlResponse: null, relayState: null }

export function addSamlPages(server: FastifyInstance, deps: SamlPageDeps): void {
  const forms = createSemaphore({ permits: formsAtOnce, waiting: 0, retryAfterSeconds })
  const ofClients = new Map<string, number>()
  const awaited = new WeakMap<FastifyRequest['raw'], number>()
  server.register(async (pages) => {
    pages.removeAllContentTypeParsers()
    pages.addContentTypeParser(
      /^application\/x-www-form-urlencoded(;.*)?$/i,
      { parseAs: 'buffer', bodyLimit: formBytesMax },
      ({ headers }, bytes, done) => {
        requireIdentity(headers['content-encoding'])
        requireUtf8(headers['content-type'])
        done(null, formOf(bytes as Buffer))
      },
    )

    /** Before the body is read: a form that no sign-in waits for is not read at all. */
    async function admit(request: FastifyRequest<OfProvider>, reply: FastifyReply) {
      deps.clients.take(request.ip)
      const provider = await findProvider(deps, request)
      if (!provider.is_awaited) return startAnew(deps, request, reply)
      awaited.set(request.raw, provider.id)
      takeSlotOfClient(ofClients, networkOfClient(request.ip), reply)
      await takeSlot(forms, reply)
      return undefined
    }

    pages.post<OfProvider & { Body: SamlForm | null }>(
      '/sso/saml/:key/acs',
      { onRequest: admit, bodyLimit: formBytesMax },
      async (request, reply) => {
        const { samlResponse, relayState } = request.body ?? noForm
        const providerId = awaited.get(request.raw)!
        const isKnown =
          samlResponse !== null &&
          relayState !== null &&
          (await saveSamlResponse(deps.db, deps.ring, providerId, relayState, samlResponse))
        if (!isKnown) return startAnew(deps, request, reply)
        return redirect(request, reply, `${returnOf(deps, request)}?state=${encodeURIComponent(relayState)}`)
      },
    )

    pages.get<OfProvider>('/sso/saml/:key/metadata', async (request, reply) => {
      deps.clients.take(request.ip)
      await findProvider(deps, request)
      const { entity_id: entityId, acs_url: acsUrl } = serviceProviderOf(deps.publicUrl, request.params.key)
      return reply
        .header('content-type', 'application/samlmetadata+xml; charset=utf-8')
        .header('cache-control', 'no-cache')
        .serializer((text: unknown) => text as string)
        .send(deps.writeMetadata(entityId, acsUrl))
    })
  })
}

/** Throws `not_found`. */
async function findProvider({ db }: SamlPageDeps, { params: { key } }: FastifyRequest<OfProvider>) {
  const provider = await findAwaited(db, key)
  if (!provider) throw notFound('identity provider')
  return provider
}

/** A field that is sent twice is read differently by others, and counts as missing. */
function formOf(bytes: Buffer): SamlForm {
  const form = new URLSearchParams(bytes.toString('latin1'))
  const only = (name: string): string | null => {
    const [value, ...others] = form.getAll(name)
    return value === undefined || others.length > 0 ? null : value
  }
  return { samlResponse: only('SAMLResponse'), relayState: only('RelayState') }
}

/** Throws `unavailable`. */
function takeSlotOfClient(ofClients: Map<string, number>, client: string, reply: FastifyReply): void {
  const held = ofClients.get(client) ?? 0
  if (held >= formsOfClientMax) throw fail('unavailable', 'queue', { retryAfterSeconds })
  if (reply.raw.closed) return
  ofClients.set(client, held + 1)
  reply.raw.once('close', () => {
    const left = ofClients.get(client)! - 1
    if (left > 0) ofClients.set(client, left)
    else ofClients.delete(client)
  })
}

async function takeSlot(forms: ReturnType<typeof createSemaphore>, reply: FastifyReply): Promise<void> {
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  if (reply.raw.closed) close()
  else reply.raw.once('close', close)
  await new Promise<void>((begun, refused) => {
    forms.run(() => (begun(), closed)).catch(refused)
  })
}

const returnOf = ({ publicUrl }: SamlPageDeps, { params }: FastifyRequest<OfProvider>): string =>
  redirectUriOf(publicUrl, params.key)

/** An answer that nobody asked for, as of a tile at the identity provider: it is discarded, and the page of the portal starts a sign-in. */
const startAnew = (
  deps: SamlPageDeps,
  request: FastifyRequest<OfProvider>,
  reply: FastifyReply,
): FastifyReply => redirect(request, reply, `${returnOf(deps, request)}?anew`)

function redirect({ raw }: FastifyRequest<OfProvider>, reply: FastifyReply, location: string): FastifyReply {
  reply.code(303).header('location', location).header('cache-control', 'no-store')
  if (!isReceiving(raw)) return reply.send()
  return reply.header('connection', 'close').header('content-length', 0).send(textBeforeRest('', raw))
}
