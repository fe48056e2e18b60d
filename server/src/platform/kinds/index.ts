// Every kind of the platform file, each after the kinds that it refers to.
import { createRegistry } from '../engine/registry.ts'
import type { Kind } from '../engine/kind.ts'
import { announcement } from './announcement.ts'
import { asn } from './asn.ts'
import { crossConnect } from './cross-connect.ts'
import { detectorThreshold } from './detector-threshold.ts'
import { device } from './device.ts'
import { deviceCredential } from './device-credential.ts'
import { dnsDefaults } from './dns-defaults.ts'
import { exporter } from './exporter.ts'
import { location } from './location.ts'
import { membership } from './membership.ts'
import { nameServer } from './name-server.ts'
import { port } from './port.ts'
import { prefix } from './prefix.ts'
import { provider } from './provider.ts'
import { region } from './region.ts'
import { scrubber } from './scrubber.ts'
import { service } from './service.ts'
import { source } from './source.ts'
import { team } from './team.ts'
import { tsigKey } from './tsig-key.ts'
import { user } from './user.ts'

export const platformKinds = createRegistry([
  location,
  region,
  team,
  user,
  membership,
  prefix,
  asn,
  service,
  deviceCredential,
  device,
  exporter,
  scrubber,
  port,
  crossConnect,
  announcement,
  detectorThreshold,
  source,
  provider,
  tsigKey,
  nameServer,
  dnsDefaults,
] as unknown as readonly Kind[])
