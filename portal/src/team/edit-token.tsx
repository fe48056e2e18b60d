// What of an API token can be changed: its name, where it works from, and when it ends. What it may do never changes.
import { Button, TagsInput, Text, TextInput } from '@mantine/core'
import { listTokensRoute, updateTokenRoute, type Token } from '@pharos/contract/token'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { forget } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { fieldError } from '../ui/problem.tsx'

const draftOf = ({ name, allowed_subnets, expires }: Token) => ({
  name,
  allowed_subnets,
  expires: expires?.slice(0, 10) ?? '',
})

export function EditToken({ token }: { token: Token }) {
  const [draft, setDraft] = useState(() => draftOf(token))
  const isEndKept = draft.expires === draftOf(token).expires
  return (
    <Dialog
      title={`Change ${token.name}`}
      action="Save"
      trigger={(open) => (
        <Button
          variant="subtle"
          size="compact-xs"
          onClick={() => {
            setDraft(draftOf(token))
            open()
          }}
        >
          Change
        </Button>
      )}
      onSubmit={async () => {
        const { name, allowed_subnets, expires } = draft
        const end = expires === '' ? null : new Date(expires).toISOString()
        await call(updateTokenRoute, {
          params: { token_id: token.id },
          body: { name, allowed_subnets, ...(isEndKept ? {} : { expires: end }) },
        })
        await forget(listTokensRoute)
      }}
    >
      {(error) => (
        <>
          <TextInput
            label="Name"
            required
            data-autofocus
            value={draft.name}
            error={fieldError(error, 'name')}
            onChange={(event) => setDraft({ ...draft, name: event.currentTarget.value })}
          />
          <TagsInput
            label="From these addresses and networks only"
            description="none means everywhere"
            placeholder="192.0.2.0/24"
            value={draft.allowed_subnets}
            error={fieldError(error, 'allowed_subnets')}
            onChange={(allowed_subnets) => setDraft({ ...draft, allowed_subnets })}
          />
          <TextInput
            type="date"
            label="Ends"
            description="empty: never; the day begins at midnight UTC"
            value={draft.expires}
            error={fieldError(error, 'expires')}
            onChange={(event) => setDraft({ ...draft, expires: event.currentTarget.value })}
          />
          <Text size="xs" c="dimmed">
            What it may do ({token.scopes.join(', ')}
            {token.is_admin && ', as admin'}) never changes: a program that needs more gets a token of its
            own.
          </Text>
        </>
      )}
    </Dialog>
  )
}
