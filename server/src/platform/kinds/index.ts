// Every kind of the platform file, each after the kinds that it refers to.
import { createRegistry } from '../engine/registry.ts'
import type { Kind } from '../engine/kind.ts'
import { announcementKind } from './announcement.ts'
import { asnKind } from './asn.ts'
import { crossConnectKind } from './cross-connect.ts'
import { detectorThresholdKind } from './detector-threshold.ts'
import { deviceKind } from './device.ts'
import { deviceCredentialKind } from './device-credential.ts'
import { dnsDefaultsKind } from './dns-defaults.ts'
import { exporterKind } from './exporter.ts'
import { locationKind } from './location.ts'
import { membershipKind } from './membership.ts'
import { nameServerKind } from './name-server.ts'
import { portKind } from './port.ts'
import { prefixKind } from './prefix.ts'
import { providerKind } from './provider.ts'
import { regionKind } from './region.ts'
import { scrubberKind } from './scrubber.ts'
import { serviceKind } from './service.ts'
import { sourceKind } from './source.ts'
import { staffSignInKind } from './staff-sign-in.ts'
import { teamKind } from './team.ts'
import { tsigKeyKind } from './tsig-key.ts'
import { userKind } from './user.ts'

export const platformKinds = createRegistry([
  locationKind,
  regionKind,
  teamKind,
  userKind,
  membershipKind,
  prefixKind,
  asnKind,
  serviceKind,
  deviceCredentialKind,
  deviceKind,
  exporterKind,
  scrubberKind,
  portKind,
  crossConnectKind,
  announcementKind,
  detectorThresholdKind,
  sourceKind,
  providerKind,
  staffSignInKind,
  tsigKeyKind,
  nameServerKind,
  dnsDefaultsKind,
] as unknown as readonly Kind[])
