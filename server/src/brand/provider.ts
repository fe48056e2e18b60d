// The names of the provider for purposes in which the default name would be wrong.
import { publicUrl, type Config } from '../runtime/config.ts'
import type { Brand } from './brand.ts'
import { meaningOf } from '../runtime/settings.ts'

const isNamed = ({ providerName }: Pick<Config, 'providerName'>): boolean =>
  providerName !== meaningOf('provider_name').byDefault

/** The issuer that an authenticator shows: the provider's name, or the host of the portal if no name is set. */
export function issuerOf(config: Pick<Config, 'providerName' | 'publicUrl' | 'host' | 'port'>): string {
  return isNamed(config) ? config.providerName : new URL(publicUrl(config)).hostname
}

/** The provider in letters of authorization, of the platform before the settings; null unless it has a name and an ASN. */
export function authorizedProvider(
  config: Pick<Config, 'providerName' | 'providerAsn'>,
  brand: Pick<Brand, 'name' | 'asn'>,
): { readonly name: string; readonly asn: number } | null {
  const asn = brand.asn ?? config.providerAsn
  const hasName = isNamed(config) || brand.name !== config.providerName
  return hasName && asn !== null ? { name: brand.name, asn } : null
}
