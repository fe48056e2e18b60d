// The fields that a new API token and a changed one have in common.
import { TagsInput, TextInput } from '@mantine/core'
import type { Fields } from '../ui/form.tsx'

export type TokenValues = {
  readonly name: string
  readonly allowed_subnets: string[]
  /** A day, `2026-03-01`; empty for none. */
  readonly expires: string
}

/** Returns the start of a day in UTC, as the API takes it; null for none. */
export const expiryOf = (day: string): string | null => (day === '' ? null : new Date(day).toISOString())

/** A form with further fields passes its own fields. */
export const NameField = ({ fields }: { fields: Fields<TokenValues> }) => (
  <TextInput
    label="Name"
    description="What will use this token?"
    required
    data-autofocus
    {...fields.getInputProps('name')}
  />
)

export const NetworksField = ({ fields }: { fields: Fields<TokenValues> }) => (
  <TagsInput
    label="Allowed networks"
    description="Leave empty to allow any"
    placeholder="192.0.2.0/24"
    {...fields.getInputProps('allowed_subnets')}
  />
)

export const ExpiryField = ({ fields }: { fields: Fields<TokenValues> }) => (
  <TextInput
    type="date"
    label="Expires"
    description="At 00:00 UTC; leave empty for no expiry"
    {...fields.getInputProps('expires')}
  />
)
