// The api role: the HTTP server with the operations of every module.
import { routes } from '@pharos/contract/document/routes'
import type { FastifyInstance } from 'fastify'
import * as alert from '../alert/parts.ts'
import * as approval from '../approval/parts.ts'
import * as audit from '../audit/parts.ts'
import { createBrandReader } from '../brand/brand.ts'
import * as byoip from '../byoip/parts.ts'
import * as dns from '../dns/parts.ts'
import * as events from '../events/parts.ts'
import * as flow from '../flow/parts.ts'
import { createWhatIf } from '../flow/what-if.ts'
import { addDocumentation } from '../http/documentation.ts'
import type { Facade } from '../http/facade.ts'
import { addHealth } from '../http/health.ts'
import type { Mounted } from '../http/mount.ts'
import { addPortal } from '../http/portal.ts'
import { addSecurityTxt } from '../http/security-txt.ts'
import { createHttpServer } from '../http/server.ts'
import * as identity from '../identity/parts.ts'
import * as inventory from '../inventory/parts.ts'
import { createRequireVisible } from '../limit/visible.ts'
import * as notification from '../notification/parts.ts'
import { addUnsubscribe } from '../notification/unsubscribe.routes.ts'
import * as platform from '../platform/parts.ts'
import * as report from '../report/parts.ts'
import * as restore from '../restore/parts.ts'
import type { Component } from '../runtime/component.ts'
import { createPostResponseTasks, type PostResponseTasks } from '../runtime/post-response-tasks.ts'
import * as search from '../search/parts.ts'
import * as setup from '../setup/parts.ts'
import { AccessTokens } from '../session/access-token.ts'
import * as session from '../session/parts.ts'
import type { SigningKeys } from '../session/signing-keys.ts'
import * as shield from '../shield/parts.ts'
import * as status from '../status/parts.ts'
import * as stream from '../stream/parts.ts'
import * as team from '../team/parts.ts'
import * as webhook from '../webhook/parts.ts'
import { healthDeps, httpDeps } from './http.ts'
import type { ApiShared, Shared } from './shared.ts'

const modules: readonly { routes(shared: ApiShared): Mounted[] }[] = [
  approval,
  session,
  identity,
  team,
  audit,
  byoip,
  dns,
  inventory,
  events,
  flow,
  shield,
  report,
  alert,
  notification,
  webhook,
  stream,
  search,
  platform,
  setup,
  restore,
  status,
]

/** Limit of queued post-response tasks: a few seconds of work. */
const postResponseTasksMax = 1_000

export type ApiDeps = Shared & {
  readonly signingKeys: SigningKeys
  /** For tests, which wait for post-response tasks. */
  readonly tasks?: PostResponseTasks
}

/** Creates the server, not listening yet. */
export function createApi(deps: ApiDeps): FastifyInstance {
  const { config, front, ring, now, flowStore, signingKeys, log } = deps
  const refusals = audit.createRefusals(deps)
  const attached: Component[] = []
  const facades: Facade[] = []
  const attach = (component: Component) => void attached.push(component)
  const shared: ApiShared = {
    ...deps,
    accessTokens: new AccessTokens(signingKeys, config.accessTokenLifetimeSeconds),
    tasks:
      deps.tasks ??
      createPostResponseTasks(postResponseTasksMax, (error) =>
        log.error({ err: error }, 'post-response task failed'),
      ),
    reportRefusal: refusals.note,
    readBrand: createBrandReader(front, config.providerName),
    estimate: createWhatIf({ db: front, flowStore }),
    attach,
    newPasswords: session.createNewPasswords({ ...deps, attach }),
    addFacade: (facade) => void facades.push(facade),
  }
  const mounted = modules.flatMap((module) => module.routes(shared))
  checkOperations(mounted)

  const server = createHttpServer({
    ...httpDeps(shared),
    credentials: session.credentials(shared),
    mounted,
    facades,
    requireVisible: createRequireVisible(deps.postgres),
    onDenied: (denied) => refusals.note(audit.refusedCallOf(denied)),
  })
  for (const component of attached) {
    server.addHook('onReady', async () => component.start?.())
    server.addHook('onClose', async () => component.stop?.())
  }
  server.addHook('onClose', () => refusals.stop())
  server.addHook('onClose', () => shared.tasks.settled())
  addDocumentation(server, () => signingKeys.jwks())
  addSecurityTxt(server, { contact: config.securityContact, now })
  identity.addPages(server, shared)
  addUnsubscribe(server, { db: front, ring, now })
  addPortal(server, { readBrand: shared.readBrand, isSetupOpen: setup.createSetupTest(shared) })
  addHealth(server, healthDeps(shared))
  return server
}

/** Throws unless exactly the operations of the contract are served: the documentation must not list an operation that returns 404. */
function checkOperations(mounted: readonly Mounted[]): void {
  const served = new Set(mounted.map(({ route }) => route))
  const missing = routes.filter((route) => !served.has(route)).map(({ name }) => name)
  const unknown = [...served].filter((route) => !routes.includes(route)).map(({ name }) => name)
  if (missing.length > 0 || unknown.length > 0) {
    throw new Error(
      `contract and server differ: not served ${missing.join(', ') || '-'}; not in the contract ${unknown.join(', ') || '-'}`,
    )
  }
}
