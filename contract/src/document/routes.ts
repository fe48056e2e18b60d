// Every operation of the API. A route that is not listed here does not exist: the server refuses to mount it.
import { accountRoutes } from '../session/account.ts'
import { adminRegionRoutes } from '../operator/region.ts'
import { staffAccessRoutes } from '../operator/staff-access.ts'
import { adminTeamRoutes } from '../operator/team.ts'
import { inboxRoutes } from '../operator/inbox.ts'
import { adminMailRoutes } from '../operator/mail.ts'
import { adminNetworkRoutes } from '../operator/network.ts'
import { adminAccessRoutes } from '../operator/access-review.ts'
import { adminUserRoutes } from '../operator/user.ts'
import { adminStatusRoutes } from '../operator/status.ts'
import { alertRuleRoutes } from '../alert/alert-rule.ts'
import { analysisRoutes } from '../events/event.ts'
import { auditRoutes } from '../team/audit.ts'
import { byoipRoutes } from '../byoip/announcement.ts'
import { deliveryRoutes } from '../events/delivery.ts'
import { deviceRoutes } from '../inventory/device.ts'
import { dnssecRoutes } from '../dns/dnssec.ts'
import { zoneFileRoutes } from '../dns/import.ts'
import { ptrRoutes } from '../dns/ptr.ts'
import { recordSetRoutes } from '../dns/recordset.ts'
import { zoneSettingsRoutes } from '../dns/settings.ts'
import { tsigKeyRoutes } from '../dns/tsig.ts'
import { zoneVersionRoutes } from '../dns/version.ts'
import { zoneRoutes } from '../dns/zone.ts'
import { domainRoutes } from '../team/domain.ts'
import { filterKeyRoutes } from '../events/filter-key.ts'
import { flowRoutes } from '../flow/flow.ts'
import { formerRouterRoutes } from '../byoip/former-router.ts'
import { approvalRoutes } from '../operator/approval.ts'
import { incidentRoutes } from '../events/incident.ts'
import { inventoryRoutes } from '../inventory/asn.ts'
import { invitationRoutes } from '../session/invitation.ts'
import { letterRoutes } from '../byoip/letter.ts'
import { accessReviewRoutes } from '../team/access-review.ts'
import { memberRoutes } from '../team/member.ts'
import { personalDataRoutes } from '../session/personal-data.ts'
import { passkeyRoutes } from '../session/passkey.ts'
import { notificationRoutes } from '../messages/notification.ts'
import { platformRoutes } from '../operator/platform.ts'
import { portRoutes } from '../inventory/port.ts'
import { providerRoutes } from '../team/provider.ts'
import { teamSignInRoutes } from '../team/sign-in.ts'
import { prefixRoutes } from '../inventory/prefix.ts'
import { reportRoutes } from '../messages/report.ts'
import { restoreRoutes } from '../operator/restore.ts'
import { setupRoutes } from '../operator/setup.ts'
import type { Route } from '../route.ts'
import { roleRoutes } from '../team/role-list.ts'
import { searchRoutes } from '../search.ts'
import { secondFactorRoutes } from '../session/second-factor.ts'
import { blackholeRoutes } from '../shield/blackhole.ts'
import { singleSignOnRoutes } from '../session/sso.ts'
import { shieldRoutes } from '../shield/shield.ts'
import { shieldTrafficRoutes } from '../shield/shield-traffic.ts'
import { shieldSuggestionRoutes } from '../shield/suggestion.ts'
import { serviceRoutes } from '../inventory/service.ts'
import { serviceAccountRoutes } from '../team/service-account.ts'
import { sessionRoutes } from '../session/session.ts'
import { streamRoutes } from '../messages/stream.ts'
import { teamRoutes } from '../team/team.ts'
import { timezoneRoutes } from '../timezone.ts'
import { tokenRoutes } from '../team/token.ts'
import { adminBillRoutes } from '../operator/bill.ts'
import { adminDeviceRoutes } from '../operator/device.ts'
import { attachmentRoutes } from '../inventory/attachment.ts'
import { eventAttachmentRoutes } from '../events/event-attachment.ts'
import { eventTrafficRoutes } from '../events/event-traffic.ts'
import { billRoutes } from '../inventory/bill.ts'
import { crossConnectRoutes } from '../inventory/cross-connect.ts'
import { inventoryMetricsRoutes } from '../inventory/metrics.ts'
import { transceiverRoutes } from '../inventory/transceiver.ts'
import { usageRoutes } from '../inventory/usage.ts'
import { viewRoutes } from '../team/view.ts'
import { webhookRoutes } from '../messages/webhook.ts'

export const routes: readonly Route[] = [
  ...sessionRoutes,
  ...accountRoutes,
  ...secondFactorRoutes,
  ...passkeyRoutes,
  ...personalDataRoutes,
  ...singleSignOnRoutes,
  ...notificationRoutes,
  ...invitationRoutes,
  ...teamRoutes,
  ...memberRoutes,
  ...accessReviewRoutes,
  ...roleRoutes,
  ...domainRoutes,
  ...providerRoutes,
  ...teamSignInRoutes,
  ...tokenRoutes,
  ...serviceAccountRoutes,
  ...viewRoutes,
  ...auditRoutes,
  ...webhookRoutes,
  ...streamRoutes,
  ...byoipRoutes,
  ...inboxRoutes,
  ...adminStatusRoutes,
  ...adminNetworkRoutes,
  ...adminMailRoutes,
  ...adminUserRoutes,
  ...adminAccessRoutes,
  ...approvalRoutes,
  ...restoreRoutes,
  ...adminRegionRoutes,
  ...formerRouterRoutes,
  ...adminTeamRoutes,
  ...staffAccessRoutes,
  ...platformRoutes,
  ...setupRoutes,
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
  ...shieldTrafficRoutes,
  ...blackholeRoutes,
  ...alertRuleRoutes,
  ...searchRoutes,
]
