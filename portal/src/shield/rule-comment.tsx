// The comment of a rule. Suggested rules have their event as the comment, which is a link.
import { TextLink } from '../ui/link.tsx'

export function RuleComment({ text }: { readonly text: string }) {
  const [, event, id] = /^(Event) ([\w-]{1,64})$/.exec(text) ?? []
  if (id === undefined) return text
  return (
    <TextLink to="/events/$id" params={{ id }} inherit underline="always">
      {event} {id}
    </TextLink>
  )
}
