// The HTTP side of the platform document.
import {
  applyPlatformRoute,
  changePlatformRoute,
  listPlatformElementsRoute,
  listPlatformKindsRoute,
} from '@pharos/contract/operator/platform'
import { handleStaff, type Mounted } from '../http/mount.ts'
import { applyDocument, type ApplyDeps } from './apply-document.ts'
import { changeElements } from './change-elements.ts'
import { listPlatformElements, listPlatformKinds } from './list-elements.ts'

export const platformRoutes = (deps: ApplyDeps): Mounted[] => [
  handleStaff(applyPlatformRoute, applyDocument, deps),
  handleStaff(listPlatformKindsRoute, listPlatformKinds, deps),
  handleStaff(listPlatformElementsRoute, listPlatformElements, deps),
  handleStaff(changePlatformRoute, changeElements, deps),
]
