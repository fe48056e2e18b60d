// Every operation of the API. A route that is not listed here does not exist: the server refuses to mount it.
import { accountRoutes } from './account.ts'
import { adminRegionRoutes } from './admin-region.ts'
import { adminTeamRoutes } from './admin-team.ts'
import { analysisRoutes } from './analysis.ts'
import { auditRoutes } from './audit.ts'
import { byoipRoutes } from './byoip.ts'
import { deliveryRoutes } from './delivery.ts'
import { deviceRoutes } from './device.ts'
import { dnssecRoutes } from './dns-dnssec.ts'
import { zoneFileRoutes } from './dns-import.ts'
import { ptrRoutes } from './dns-ptr.ts'
import { recordSetRoutes } from './dns-recordset.ts'
import { zoneSettingsRoutes } from './dns-settings.ts'
import { tsigKeyRoutes } from './dns-tsig.ts'
import { zoneVersionRoutes } from './dns-version.ts'
import { zoneRoutes } from './dns-zone.ts'
import { domainRoutes } from './domain.ts'
import { filterKeyRoutes } from './filter-key.ts'
import { flowRoutes } from './flow.ts'
import { formerRouterRoutes } from './former-router.ts'
import { approvalRoutes } from './approval.ts'
import { incidentRoutes } from './incident.ts'
import { inventoryRoutes } from './inventory.ts'
import { invitationRoutes } from './invitation.ts'
import { letterRoutes } from './letter.ts'
import { memberRoutes } from './member.ts'
import { notificationRoutes } from './notification.ts'
import { platformRoutes } from './platform.ts'
import { portRoutes } from './port.ts'
import { prefixRoutes } from './prefix.ts'
import { reportRoutes } from './report.ts'
import { restoreRoutes } from './restore.ts'
import type { Route } from './route.ts'
import { roleRoutes } from './role-list.ts'
import { searchRoutes } from './search.ts'
import { secondFactorRoutes } from './second-factor.ts'
import { blackholeRoutes } from './blackhole.ts'
import { shieldRoutes } from './shield.ts'
import { shieldSuggestionRoutes } from './shield-suggestion.ts'
import { serviceRoutes } from './service.ts'
import { serviceAccountRoutes } from './service-account.ts'
import { sessionRoutes } from './session.ts'
import { streamRoutes } from './stream.ts'
import { teamRoutes } from './team.ts'
import { timezoneRoutes } from './timezone.ts'
import { tokenRoutes } from './token.ts'
import { adminBillRoutes } from './admin-bill.ts'
import { adminDeviceRoutes } from './admin-device.ts'
import { attachmentRoutes } from './attachment.ts'
import { eventAttachmentRoutes } from './event-attachment.ts'
import { eventTrafficRoutes } from './event-traffic.ts'
import { billRoutes } from './bill.ts'
import { crossConnectRoutes } from './cross-connect.ts'
import { inventoryMetricsRoutes } from './inventory-metrics.ts'
import { transceiverRoutes } from './transceiver.ts'
import { usageRoutes } from './usage.ts'
import { webhookRoutes } from './webhook.ts'

export const routes: readonly Route[] = [
  ...sessionRoutes,
  ...accountRoutes,
  ...secondFactorRoutes,
  ...notificationRoutes,
  ...invitationRoutes,
  ...teamRoutes,
  ...memberRoutes,
  ...roleRoutes,
  ...domainRoutes,
  ...tokenRoutes,
  ...serviceAccountRoutes,
  ...auditRoutes,
  ...webhookRoutes,
  ...streamRoutes,
  ...byoipRoutes,
  ...approvalRoutes,
  ...restoreRoutes,
  ...adminRegionRoutes,
  ...formerRouterRoutes,
  ...adminTeamRoutes,
  ...platformRoutes,
  ...letterRoutes,
  ...zoneRoutes,
  ...dnssecRoutes,
  ...zoneFileRoutes,
  ...recordSetRoutes,
  ...zoneSettingsRoutes,
  ...tsigKeyRoutes,
  ...zoneVersionRoutes,
  ...ptrRoutes,
  ...prefixRoutes,
  ...inventoryRoutes,
  ...serviceRoutes,
  ...deviceRoutes,
  ...portRoutes,
  ...billRoutes,
  ...adminBillRoutes,
  ...adminDeviceRoutes,
  ...attachmentRoutes,
  ...eventAttachmentRoutes,
  ...eventTrafficRoutes,
  ...crossConnectRoutes,
  ...inventoryMetricsRoutes,
  ...transceiverRoutes,
  ...usageRoutes,
  ...deliveryRoutes,
  ...analysisRoutes,
  ...incidentRoutes,
  ...flowRoutes,
  ...filterKeyRoutes,
  ...reportRoutes,
  ...timezoneRoutes,
  ...shieldRoutes,
  ...shieldSuggestionRoutes,
  ...blackholeRoutes,
  ...searchRoutes,
]
