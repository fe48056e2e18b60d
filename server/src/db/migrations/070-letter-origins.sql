-- A letter authorizes a prefix with the origin that it names, not with one that the operator enters later.

alter table letter_announcements add column origin_asn bigint;
update letter_announcements la set origin_asn = a.origin_asn from announcements a where a.id = la.announcement_id;
alter table letter_announcements alter column origin_asn set not null;
comment on column letter_announcements.origin_asn is 'of the announcement at the upload: the letter does not authorize another one';
grant insert (origin_asn) on letter_announcements to pharos_tenant;
