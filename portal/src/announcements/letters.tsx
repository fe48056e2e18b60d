// Letters of authorization of an announcement: a draft to sign, an upload, and what became of those that were sent.
import { Badge, Button, Card, FileInput, Group, Stack, Table, Text, TextInput } from '@mantine/core'
import type { Announcement } from '@pharos/contract/byoip'
import { getAnnouncement } from '@pharos/contract/byoip'
import {
  draftLetter,
  getLetterFile,
  listLetters,
  uploadLetter,
  type LetterStatus,
} from '@pharos/contract/letter'
import { IconDownload, IconUpload } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { forget, useAnswer } from '../api/queries.ts'
import { download } from '../ui/download.ts'
import { Problem, tell, tellProblem } from '../ui/problem.tsx'
import { Time } from '../ui/time.tsx'

const shown: Record<LetterStatus, { label: string; color: string }> = {
  pending_review: { label: 'waits for the provider', color: 'blue' },
  accepted: { label: 'accepted', color: 'teal' },
  rejected: { label: 'rejected', color: 'red' },
}

export function Letters({ announcement: { id, cidr } }: { announcement: Announcement }) {
  const letters = useAnswer(
    listLetters,
    { query: { announcement_id: [id], limit: 100 } },
    { refetchInterval: 10_000 },
  )
  async function draft() {
    const { body } = await call(draftLetter, { params: { announcement_id: id } })
    download(`letter-${cidr.replace('/', '-')}.pdf`, body as unknown as Blob)
  }
  return (
    <Stack>
      <Card>
        <Group justify="space-between">
          <Text size="sm">Sign the draft, or write your own on your letterhead, and send it here.</Text>
          <Button
            variant="default"
            leftSection={<IconDownload size={14} />}
            onClick={() => void draft().catch(tellProblem)}
          >
            Draft to sign
          </Button>
        </Group>
        <Upload id={id} />
      </Card>
      {letters.error && <Problem error={letters.error} />}
      {letters.data && letters.data.count > 0 && (
        <Table.ScrollContainer minWidth={600}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>File</Table.Th>
                <Table.Th>Status</Table.Th>
                <Table.Th>Sent</Table.Th>
                <Table.Th>Valid until</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {letters.data.results.map((letter) => (
                <Table.Tr key={letter.id}>
                  <Table.Td>
                    <FileButton id={letter.id} filename={letter.filename} />
                  </Table.Td>
                  <Table.Td>
                    <Badge color={shown[letter.status].color}>{shown[letter.status].label}</Badge>{' '}
                    {letter.reason && (
                      <Text span size="xs" c="dimmed">
                        {letter.reason}
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td>
                    <Time at={letter.uploaded} />
                  </Table.Td>
                  <Table.Td>
                    <Time at={letter.valid_until} none="no end" />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Stack>
  )
}

function FileButton({ id, filename }: { id: number; filename: string }) {
  async function take() {
    const { body } = await call(getLetterFile, { params: { letter_id: id } })
    download(filename, body as unknown as Blob)
  }
  return (
    <Button variant="subtle" size="compact-xs" onClick={() => void take().catch(tellProblem)}>
      {filename}
    </Button>
  )
}

function Upload({ id }: { id: number }) {
  const [file, setFile] = useState<File | null>(null)
  const [until, setUntil] = useState('')
  const upload = useMutation({
    mutationFn: () =>
      call(uploadLetter, {
        params: { announcement_id: id },
        form: { file: file!, ...(until ? { fields: { valid_until: until } } : {}) },
      }),
    onSuccess: () => {
      setFile(null)
      tell('The letter was sent. The provider reads it next.')
      return forget(listLetters, getAnnouncement)
    },
  })
  return (
    <Stack gap="xs" mt="sm">
      <Group align="flex-end">
        <FileInput
          size="xs"
          w={260}
          label="Signed letter"
          description="PDF, PNG or JPEG, at most 10 MiB"
          placeholder="Choose a file"
          accept="application/pdf,image/png,image/jpeg"
          value={file}
          onChange={setFile}
          clearable
        />
        <TextInput
          size="xs"
          type="date"
          label="Valid until"
          description="leave empty for no end"
          value={until}
          onChange={(event) => setUntil(event.currentTarget.value)}
        />
        <Button
          leftSection={<IconUpload size={14} />}
          disabled={!file}
          loading={upload.isPending}
          onClick={() => upload.mutate()}
        >
          Send
        </Button>
      </Group>
      {upload.error && <Problem error={upload.error} />}
    </Stack>
  )
}
