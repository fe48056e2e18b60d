// Wires identity providers: their operations, and signing in with them.
import { issuerOf } from '../brand/provider.ts'
import { createIdentityProviders } from '../drivers/identity-providers.ts'
import { createFetch } from '../drivers/outgoing/fetch.ts'
import { createHostResolver } from '../drivers/outgoing/resolve-host.ts'
import { writeMetadata } from '../drivers/saml/metadata.ts'
import { createSamlSettings } from '../drivers/saml/read-settings.ts'
import { sandboxIssuer } from '../drivers/sandbox-identity/provider.ts'
import type { FastifyInstance } from 'fastify'
import type { Mounted } from '../http/mount.ts'
import { isLoopback } from '../net/loopback.ts'
import { parseNetworks } from '../net/network-list.ts'
import { createApplyRoles } from '../scim/apply-roles.ts'
import { parsePorts } from '../net/port-list.ts'
import type { ApiShared } from '../process/shared.ts'
import { ClientLimiter } from '../runtime/client-limiter.ts'
import { fromSetting } from '../runtime/from-setting.ts'
import { createMailLimits } from '../session/mail-limits.ts'
import { relyingPartyOf } from '../session/relying-party.ts'
import { createDomainProviders } from './domain-providers.ts'
import { identityRoutes } from './identity.routes.ts'
import { claimAssertion } from './provider.store.ts'
import { addLogoutPage } from './logout.routes.ts'
import { addSamlPages } from './saml.routes.ts'

type Deps = Pick<ApiShared, 'front' | 'publicUrl' | 'config'>

const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '')

function createDrivers({ config, front: db, publicUrl }: Deps) {
  const allowed = fromSetting('sso_networks_allowed', () => parseNetworks(config.ssoNetworksAllowed))
  const ports = fromSetting('webhook_ports_allowed', () => parsePorts(config.webhookPortsAllowed))
  const resolver = createHostResolver({ servers: config.dnsResolvers })
  const fetch = createFetch({ resolver, allowed, publicPorts: ports })
  // Behind a proxy the server itself is on loopback, and the sandbox would sign in anybody.
  const onLoopback = isLoopback(config.host) && isLoopback(hostOf(publicUrl))
  const createProvider = createIdentityProviders(fetch, onLoopback, (...claim) =>
    claimAssertion(db, ...claim),
  )
  return { createProvider, allowed, ports, fetch, onLoopback }
}

export function routes(shared: ApiShared): Mounted[] {
  const { config, front: db, publicUrl, metrics } = shared
  const { createProvider, allowed, ports, fetch, onLoopback } = createDrivers(shared)
  const perMinute = config.signInLimitPerMinute
  const limiter = (burst: number) => new ClientLimiter({ perSecond: burst / 60, burst })
  return identityRoutes({
    ...shared,
    db,
    onLoopback,
    membersPerTeam: config.membersPerTeam,
    createProvider,
    applyToProvisioned: createApplyRoles(shared.ring, config.membersPerTeam),
    readSamlSettings: createSamlSettings({ fetch, allowsPrivate: allowed.length > 0 }),
    findByDomain: createDomainProviders(db),
    issuerRules: {
      allowsPrivate: allowed.length > 0,
      ports,
      sandboxIssuer: onLoopback ? sandboxIssuer : null,
    },
    relyingParty: relyingPartyOf(publicUrl, issuerOf(config)),
    mailLimits: createMailLimits(config.accountMailsPerHour),
    methodsOfClient: limiter(3 * perMinute),
    attemptsOfClient: limiter(perMinute),
    onStaffSignIn: (outcome) => metrics.signIns.inc({ method: 'staff', outcome }),
    onSignIn: (outcome) => metrics.signIns.inc({ method: 'provider', outcome }),
    cookies: {
      secure: publicUrl.startsWith('https://'),
      lifetimeSeconds: config.refreshIdleLifetimeSeconds,
    },
    lifetime: {
      idleSeconds: config.refreshIdleLifetimeSeconds,
      absoluteSeconds: config.refreshAbsoluteLifetimeSeconds,
    },
  })
}

/** The pages outside of the API: browsers of people who sign in, and identity providers, open them. */
export const addPages = (server: FastifyInstance, shared: Deps & Pick<ApiShared, 'ring'>): void => {
  const { front: db, ring, publicUrl, config } = shared
  const perMinute = 3 * config.signInLimitPerMinute
  const clients = new ClientLimiter({ perSecond: perMinute / 60, burst: perMinute })
  addSamlPages(server, { db, ring, publicUrl, clients, writeMetadata })
  const { createProvider } = createDrivers(shared)
  addLogoutPage(server, { db, ring, publicUrl, clients, createProvider })
}
