// The settings that the status of an installation reads, for tests without a server.
import type { StatusConfig } from '../../src/status/status.ts'

export const statusConfig: StatusConfig = {
  reconcileIntervalSeconds: 30,
  deliveryRetentionDays: null,
  eventRetentionMonths: null,
  auditRetentionMonths: null,
  accountRetentionMonths: null,
}
