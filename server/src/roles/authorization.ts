// Which proofs authorize an announcement, and where they are looked for: from the configuration to drivers.
import type { AuthorizationDeps } from '../byoip/validation/find-out.ts'
import { createTxtResolver } from '../drivers/dns/txt-resolver.ts'
import { createRdapSource } from '../drivers/rdap/source.ts'
import { createHostResolver } from '../drivers/webhook/resolve-host.ts'
import { ConfigError, type Config } from '../runtime/config.ts'

/** Asks nothing yet. Throws a ConfigError if the bootstrap URL is not allowed. */
export function authorizationDeps(config: Config): AuthorizationDeps {
  const { authorizationProofs: kinds, rdapBootstrap: bootstrap, dnsResolvers: servers, secret: ring } = config
  return { kinds, ring, txt: createTxtResolver({ servers }), rdap: createRdap() }

  function createRdap() {
    if (bootstrap === null) return undefined
    try {
      return createRdapSource({ bootstrap, resolver: createHostResolver({ servers }) })
    } catch (error) {
      throw new ConfigError([`rdap_bootstrap: ${(error as Error).message}`])
    }
  }
}
