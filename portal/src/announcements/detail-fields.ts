// The fields of the details, in the forms that create and edit announcements.
import type { OwnDetailName } from '@pharos/contract/byoip/announcement-checks'
import { text } from '../ui/form-text-widgets.tsx'
import type { FieldDeclaration } from '../ui/form.tsx'
import { textarea, toggle } from '../ui/form-widgets.tsx'
import { words } from './words.ts'

const { detailFields: texts } = words

export const detailFields: Readonly<Record<OwnDetailName, FieldDeclaration>> = {
  description: textarea({ label: texts.description }),
  as_set: text({ label: texts.asSet, help: texts.asSetHelp, placeholder: 'AS-EXAMPLE' }),
  loa_signatory: text({ label: texts.signatory, help: texts.signatoryHelp }),
  delegate_loa: toggle({ label: texts.delegate }),
}
