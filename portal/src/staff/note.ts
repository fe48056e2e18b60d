// The note of a decision, for other staff, and the request that makes the decision.
import { approveChangesRoute, rejectChangesRoute } from '@pharos/contract/operator/approval'
import { call } from '../api/call.ts'
import { textarea } from '../ui/form-widgets.tsx'
import { words } from './words.ts'

const { note, noteHelp } = words.approval

export type NoteValues = { readonly note: string }

/** The properties of a dialog with the note as its only field. */
export const noteField = {
  route: approveChangesRoute,
  initialValues: { note: '' },
  declared: { note: textarea({ label: note, help: noteHelp }) },
}

/** Rejects with 409 if the approval was closed or decided otherwise. */
export const decideApproval = (id: number, isApproval: boolean, values: NoteValues): Promise<unknown> =>
  call(isApproval ? approveChangesRoute : rejectChangesRoute, {
    params: { approval_id: id },
    body: values.note.trim() === '' ? {} : { note: values.note },
  })
