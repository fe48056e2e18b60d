// The names of the provider for purposes in which the default name would be wrong.
import { publicUrl, type Config } from '../runtime/config.ts'
import { meaningOf } from '../runtime/settings.ts'

const isNamed = ({ providerName }: Pick<Config, 'providerName'>): boolean =>
  providerName !== meaningOf('provider_name').byDefault

/** The issuer that an authenticator shows: the provider's name, or the host of the portal if no name is set. */
export function issuerOf(config: Pick<Config, 'providerName' | 'publicUrl' | 'host' | 'port'>): string {
  return isNamed(config) ? config.providerName : new URL(publicUrl(config)).hostname
}

/** The provider in letters of authorization; null unless both settings are set. */
export function authorizedProvider(
  config: Pick<Config, 'providerName' | 'providerAsn'>,
): { readonly name: string; readonly asn: number } | null {
  const { providerName: name, providerAsn: asn } = config
  return isNamed(config) && asn !== null ? { name, asn } : null
}
