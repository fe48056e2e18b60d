// What is asked of a webhook, and its secret, which is shown once.
import { Alert, MultiSelect, TextInput } from '@mantine/core'
import { messageTypes } from '@pharos/contract/webhook-message'
import { CopyBlock } from '../ui/copy.tsx'
import { fieldError } from '../ui/problem.tsx'

export type Draft = { url: string; description: string; events: string[] }
export const nothing: Draft = { url: '', description: '', events: [...messageTypes] }

export function Fields({
  draft,
  setDraft,
  error,
}: {
  draft: Draft
  setDraft: (draft: Draft) => void
  error: unknown
}) {
  return (
    <>
      <TextInput
        label="URL"
        placeholder="https://hooks.acme.net/pharos"
        required
        data-autofocus
        value={draft.url}
        error={fieldError(error, 'url')}
        onChange={(event) => setDraft({ ...draft, url: event.currentTarget.value.trim() })}
      />
      <TextInput
        label="Description"
        maxLength={500}
        value={draft.description}
        onChange={(event) => setDraft({ ...draft, description: event.currentTarget.value })}
      />
      <MultiSelect
        label="Tell it of"
        data={[...messageTypes]}
        value={draft.events}
        error={fieldError(error, 'events')}
        onChange={(events) => setDraft({ ...draft, events })}
      />
    </>
  )
}

export function Secret({ secret }: { secret: string }) {
  return (
    <>
      <Alert color="yellow">
        Copy the secret now: it is not shown again. The receiver checks signatures with it.
      </Alert>
      <CopyBlock text={secret} label="Copy the secret" />
    </>
  )
}
