// The HTTP side of DNS: one line per operation. The operations of DNSSEC are mounted with the signer.
import { exportZoneRoute, importZoneRoute } from '@pharos/contract/dns/import'
import {
  deletePtrTemplateRoute,
  listPtrRecordsRoute,
  listPtrTemplatesRoute,
  updatePtrRecordsRoute,
} from '@pharos/contract/dns/ptr'
import {
  changeRecordSetsRoute,
  createRecordSetsRoute,
  deleteRecordSetRoute,
  getRecordSetRoute,
  listRecordSetsRoute,
  updateRecordSetRoute,
} from '@pharos/contract/dns/recordset'
import { getZoneSettingsRoute, updateZoneSettingsRoute } from '@pharos/contract/dns/settings'
import {
  createTsigKeyRoute,
  deleteTsigKeyRoute,
  getTsigKeyRoute,
  listTsigKeysRoute,
} from '@pharos/contract/dns/tsig'
import { getZoneVersionRoute, listZoneVersionsRoute, rollBackZoneRoute } from '@pharos/contract/dns/version'
import {
  createZoneRoute,
  deleteZoneRoute,
  getZoneRoute,
  listZonesRoute,
  restoreZoneRoute,
} from '@pharos/contract/dns/zone'
import { handle, type Mounted } from '../http/mount.ts'
import { exportZone } from './import/export-zone.ts'
import { importZone, type ImportDeps } from './import/import-zone.ts'
import {
  changeRecordSets,
  createRecordSets,
  deleteRecordSet,
  updateRecordSet,
} from './recordset/change-recordsets.ts'
import { getRecordSet, listRecordSets } from './recordset/list-recordsets.ts'
import {
  deletePtrTemplate,
  listPtrRecords,
  listPtrTemplates,
  updatePtrRecords,
  type PtrDeps,
} from './reverse/ptr.ts'
import { getZoneSettings, updateZoneSettings } from './settings/settings.ts'
import {
  createTsigKey,
  deleteTsigKey,
  getTsigKey,
  listTsigKeys,
  type TsigKeyDeps,
} from './settings/tsig-keys.ts'
import { createZone } from './zone/create-zone.ts'
import { deleteZone, restoreZone } from './zone/delete-zone.ts'
import { getZone, listZones } from './zone/list-zones.ts'
import { getZoneVersion, listZoneVersions, rollBackZone } from './version/version.ts'

export const dnsRoutes = (deps: ImportDeps & PtrDeps & TsigKeyDeps): Mounted[] => [
  handle(listZonesRoute, listZones, deps),
  handle(createZoneRoute, createZone, deps),
  handle(getZoneRoute, getZone, deps),
  handle(deleteZoneRoute, deleteZone, deps),
  handle(restoreZoneRoute, restoreZone, deps),
  handle(importZoneRoute, importZone, deps),
  handle(exportZoneRoute, exportZone, deps),
  handle(listRecordSetsRoute, listRecordSets, deps),
  handle(createRecordSetsRoute, createRecordSets, deps),
  handle(changeRecordSetsRoute, changeRecordSets, deps),
  handle(getRecordSetRoute, getRecordSet, deps),
  handle(updateRecordSetRoute, updateRecordSet, deps),
  handle(deleteRecordSetRoute, deleteRecordSet, deps),
  handle(getZoneSettingsRoute, getZoneSettings, deps),
  handle(updateZoneSettingsRoute, updateZoneSettings, deps),
  handle(listTsigKeysRoute, listTsigKeys, deps),
  handle(getTsigKeyRoute, getTsigKey, deps),
  handle(createTsigKeyRoute, createTsigKey, deps),
  handle(deleteTsigKeyRoute, deleteTsigKey, deps),
  handle(listZoneVersionsRoute, listZoneVersions, deps),
  handle(getZoneVersionRoute, getZoneVersion, deps),
  handle(rollBackZoneRoute, rollBackZone, deps),
  handle(listPtrRecordsRoute, listPtrRecords, deps),
  handle(updatePtrRecordsRoute, updatePtrRecords, deps),
  handle(listPtrTemplatesRoute, listPtrTemplates, deps),
  handle(deletePtrTemplateRoute, deletePtrTemplate, deps),
]
