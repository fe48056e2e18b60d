// How an authenticator names us, so that a user with codes of many services finds ours.
import { publicUrl, type Config } from '../runtime/config.ts'
import { meaningOf } from '../runtime/settings.ts'

/** The provider's name, or the host of the portal where nobody has set a name. */
export function issuerOf(config: Pick<Config, 'providerName' | 'publicUrl' | 'host' | 'port'>): string {
  if (config.providerName !== meaningOf('provider_name').byDefault) return config.providerName
  return new URL(publicUrl(config)).hostname
}
