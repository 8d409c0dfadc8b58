// Reads the doc comments of src/schemas, so that the description says of a field what the editor says.
import { readdirSync, readFileSync } from 'node:fs';
import ts from 'typescript';

interface Commented {
  comment: string | undefined;
  members: Map<string, { comment: string | undefined; type: string | undefined }>;
  /** Interfaces that it may have members of. */
  bases: string[];
}

const folder = new URL('../../src/schemas/', import.meta.url);

const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'));

/** Each interface and type of src/schemas by its name. */
const declared: ReadonlyMap<string, Commented> = new Map(
  names.flatMap(name => {
    const file = ts.createSourceFile(name, readFileSync(new URL(name, folder), 'utf8'), ts.ScriptTarget.Latest, true);
    return file.statements.flatMap((statement): [string, Commented][] => {
      if (ts.isTypeAliasDeclaration(statement)) {
        return [[statement.name.text, { comment: commentOf(statement), members: new Map(), bases: [] }]];
      }
      return ts.isInterfaceDeclaration(statement) ? [[statement.name.text, read(statement)]] : [];
    });
  }),
);

function read(declaration: ts.InterfaceDeclaration): Commented {
  const members = declaration.members
    .filter(ts.isPropertySignature)
    .map(member => [member.name.getText(), { comment: commentOf(member), type: member.type?.getText() }] as const);
  // Also those inside of Pick<…> and Omit<…>.
  const bases = (declaration.heritageClauses ?? []).flatMap(clause => clause.getText().match(/\b[A-Z]\w+/g) ?? []);
  return { comment: commentOf(declaration), members: new Map(members), bases };
}

/** What a comment says of the wire: a sentence with a link to a function or type of the SDK is for the SDK's users. */
function commentOf(node: ts.Node): string | undefined {
  const [comment] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const text = ts.getTextOfJSDocComment(comment?.comment)?.replace(/\s+/g, ' ').trim() ?? '';
  const sentences = text.split(/(?<=[.!?]) (?=[A-Z`{])/).filter(sentence => !sentence.includes('{@link'));
  return sentences.join(' ') || undefined;
}

/** The comment of an interface. */
export const commentOn = (name: string): string | undefined => declared.get(name)?.comment;

/** The names of an interface's members, and of those that it may have of others. */
export function membersOf(name: string): string[] {
  const { members, bases } = declared.get(name) ?? {};
  return [...(members?.keys() ?? []), ...(bases ?? []).flatMap(membersOf)];
}

/** The comment of an interface's member, or else of the member's type. */
export function commentOnMember(name: string, member: string): string | undefined {
  const { members, bases } = declared.get(name) ?? {};
  const own = members?.get(member);
  if (own) return own.comment ?? commentOn(own.type ?? '');
  return bases?.map(base => commentOnMember(base, member)).find(comment => comment);
}
