// Requests for one announcement as commands of curl. Pure.

/** Returns the commands that read and change an announcement; the change is a dry run. */
export function curlOf(origin: string, id: number, enable: boolean) {
  const url = `${origin}/v3/ipam/announcements/${id}`
  return {
    read: `curl '${url}?include=validations,region_states,details' \\\n  -H "Authorization: Token $PHAROS_TOKEN"`,
    change: [
      `curl -X PATCH '${url}?dry_run=true'`,
      `-H "Authorization: Token $PHAROS_TOKEN"`,
      `-H 'Content-Type: application/json'`,
      `-d '${JSON.stringify({ enabled: enable })}'`,
    ].join(' \\\n  '),
  }
}
