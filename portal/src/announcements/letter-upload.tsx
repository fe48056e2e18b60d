// Sending a signed letter: dropped here or chosen, for this announcement and for others that it covers.
import { Button, FileInput, Group, MultiSelect, Paper, Stack, Text, TextInput } from '@mantine/core'
import { getAnnouncementRoute, listAnnouncementsRoute, type Announcement } from '@pharos/contract/byoip'
import {
  letterBytesMax,
  letterMediaTypes,
  listLettersRoute,
  uploadLetterRoute,
} from '@pharos/contract/letter'
import { IconFileUpload, IconUpload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState, type DragEvent, type ReactNode } from 'react'
import { call } from '../api/call.ts'
import { forget, useAnswer } from '../api/queries.ts'
import { Problem, tell } from '../ui/problem.tsx'
import classes from './announcements.module.css'

/** What the server would refuse, said before anything is sent. */
function mistakeOf({ size, type }: File): string | undefined {
  if (size === 0) return 'The file is empty.'
  if (size > letterBytesMax) return 'It is larger than 10 MiB.'
  const isKnown = (letterMediaTypes as readonly string[]).includes(type)
  return isKnown ? undefined : 'It is no PDF, PNG or JPEG.'
}

export function LetterUpload({ announcement: { id } }: { announcement: Announcement }) {
  const [file, setFile] = useState<File | null>(null)
  const [until, setUntil] = useState('')
  const [others, setOthers] = useState<string[]>([])
  const mistake = file ? mistakeOf(file) : undefined
  const upload = useMutation({
    mutationFn: () =>
      call(uploadLetterRoute, {
        params: { announcement_id: id },
        form: {
          file: file!,
          fields: {
            ...(until ? { valid_until: until } : {}),
            ...(others.length > 0 ? { applies_to: others.map(Number) } : {}),
          },
        },
      }),
    onSuccess: () => {
      setFile(null)
      setOthers([])
      tell('The letter was sent. The provider reads it next.')
      return forget(listLettersRoute, getAnnouncementRoute)
    },
  })
  function choose(next: File | null) {
    upload.reset()
    setFile(next)
  }
  return (
    <Stack gap="sm">
      <DropPlace onDrop={choose}>
        <Group align="flex-start">
          <FileInput
            size="xs"
            w={320}
            label="Signed letter"
            description="PDF, PNG or JPEG to 10 MiB; it may be dropped here"
            placeholder="Choose a file"
            accept={letterMediaTypes.join(',')}
            leftSection={<IconFileUpload size={14} />}
            value={file}
            error={mistake}
            onChange={choose}
            clearable
            clearButtonProps={{ 'aria-label': 'Take the file away' }}
          />
          <TextInput
            size="xs"
            type="date"
            label="Valid until"
            description="leave empty for no end"
            value={until}
            onChange={(event) => setUntil(event.currentTarget.value)}
          />
          <CoveredAlso id={id} value={others} onChange={setOthers} />
        </Group>
      </DropPlace>
      <Group>
        <Button
          leftSection={<IconUpload size={14} />}
          disabled={!file || mistake !== undefined}
          loading={upload.isPending}
          onClick={() => upload.mutate()}
        >
          Send
        </Button>
        {file && mistake === undefined && (
          <Text size="xs" c="dimmed">
            It replaces letters that were not read yet; one that was accepted counts until it ends.
          </Text>
        )}
      </Group>
      {upload.error && <Problem error={upload.error} />}
    </Stack>
  )
}

type CoveredAlsoProps = { id: number; value: string[]; onChange: (value: string[]) => void }

/** Other announcements of the team, for a letter that names several prefixes. */
export function CoveredAlso({ id, value, onChange }: CoveredAlsoProps) {
  const all = useAnswer(listAnnouncementsRoute, { query: { limit: 1000, ordering: 'cidr' } })
  const others = all.data?.results.filter((one) => one.id !== id) ?? []
  if (others.length === 0) return null
  return (
    <MultiSelect
      size="xs"
      w={260}
      label="Covers also"
      description="other prefixes that the letter names"
      searchable
      clearable
      data={others.map((one) => ({ value: String(one.id), label: one.cidr }))}
      value={value}
      onChange={onChange}
    />
  )
}

/** The keyboard's way is the field within: dropping is one more for the mouse. */
function DropPlace({ onDrop, children }: { onDrop: (file: File) => void; children: ReactNode }) {
  const [isOver, setIsOver] = useState(false)
  function take(event: DragEvent) {
    event.preventDefault()
    setIsOver(false)
    const [file] = event.dataTransfer.files
    if (file) onDrop(file)
  }
  return (
    <Paper
      withBorder
      p="sm"
      className={classes['place']!}
      data-over={isOver || undefined}
      data-drop
      onDragOver={(event) => {
        event.preventDefault()
        setIsOver(true)
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={take}
    >
      {children}
    </Paper>
  )
}
