-- How many pages the file of a letter has, so that staff see each of them as a picture.

alter table letters add column pages integer check (pages between 1 and 1000);
comment on column letters.pages is 'null for files that were uploaded before pages were counted';
grant insert (pages) on letters to pharos_tenant;
