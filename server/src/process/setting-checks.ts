// Checks the settings that drivers and domains parse: each by its own parser, together with all other settings.
import { serviceTypes } from '@pharos/contract/inventory/service'
import { parseFlowAddress } from '../collector/parts.ts'
import { parseClickHouseUrl } from '../drivers/clickhouse/url.ts'
import { parseListenAddress } from '../drivers/dns-server/listen-address.ts'
import { checkNameServers } from '../drivers/dns/resolver-query.ts'
import { irrDrivers } from '../drivers/irr-sources.ts'
import { mailDrivers } from '../drivers/mail-transports.ts'
import { parseDeviceFilter, parseNetboxUrl, parseServiceTypes } from '../drivers/netbox/mapping.ts'
import { parseBootstrapUrl } from '../drivers/rdap/source.ts'
import { scannerDrivers } from '../drivers/scanners.ts'
import { visibilityDrivers } from '../drivers/visibility-sources.ts'
import { vrpDrivers } from '../drivers/vrp-sources.ts'
import { parseZoneName } from '../net/dns/name.ts'
import { parseNetworks } from '../net/network-list.ts'
import { parsePorts } from '../net/port-list.ts'
import type { SettingChecks } from '../runtime/config.ts'
import { parseWebhookSecret } from '../webhook/operator-webhook-secret.ts'

export const settingChecks: SettingChecks = {
  clamd_url: scannerDrivers.check,
  clickhouse_url: parseClickHouseUrl,
  dns_catalog_zone: parseZoneName,
  dns_listen: parseListenAddress,
  dns_resolvers: checkNameServers,
  dns_networks_allowed: parseNetworks,
  dns_ports_allowed: parsePorts,
  dns_roots: (servers) => servers.forEach(parseListenAddress),
  irr_sources: irrDrivers.checkAll,
  netflow_listen: parseFlowAddress,
  sflow_listen: parseFlowAddress,
  mail_url: mailDrivers.check,
  netbox_device_filter: parseDeviceFilter,
  netbox_service_types: (entries) => parseServiceTypes(entries, serviceTypes),
  netbox_url: parseNetboxUrl,
  operator_webhook_secret: parseWebhookSecret,
  rdap_bootstrap: parseBootstrapUrl,
  rpki_sources: vrpDrivers.checkAll,
  visibility_sources: visibilityDrivers.checkAll,
  webhook_networks_allowed: parseNetworks,
  webhook_ports_allowed: parsePorts,
}
