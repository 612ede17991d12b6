//! Doc comments: every public function, type and trait has one, and none opens with a relative clause.

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Attribute, Ident, Visibility};

use super::source::{RustSource, RustSources};
use super::{TidyFinding, TidyRule, crate_source};

/// Openings of a relative clause.
const CLAUSES: [&str; 9] =
    ["What", "Whatever", "Whether", "Who", "Whoever", "Where", "When", "Which", "How"];
/// Articles. A function's comment begins with a verb, so it has no article either.
const ARTICLES: [&str; 3] = ["The", "A", "An"];

/// Checks the comments of functions, types and traits.
pub(super) fn check(sources: &RustSources) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for (path, source) in sources.iter() {
        let is_product = crate_source(path).is_some();
        let mut finder = ItemFinder {
            path,
            source,
            is_product,
            in_public_trait: false,
            findings: &mut findings,
        };
        finder.visit_file(&source.tree);
    }
    findings
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DocSubject {
    Function,
    Type,
}

struct ItemFinder<'a> {
    path: &'a str,
    source: &'a RustSource,
    is_product: bool,
    in_public_trait: bool,
    findings: &'a mut Vec<TidyFinding>,
}

impl ItemFinder<'_> {
    fn add(&mut self, kind: DocSubject, name: &Ident, is_public: bool, attributes: &[Attribute]) {
        let line = name.span().start().line;
        let is_doc = |attribute: &&Attribute| attribute.path().is_ident("doc");
        let Some(first) = attributes.iter().find(is_doc) else {
            if is_public && self.is_product && !self.source.is_test(line) {
                let message = format!("`{name}` is public and has no doc comment; write one");
                self.findings.push(TidyRule::Doc.at(self.path, line, message));
            }
            return;
        };
        let Some(word) = first_word(first) else { return };
        let is_banned =
            CLAUSES.contains(&&*word) || kind == DocSubject::Function && ARTICLES.contains(&&*word);
        if is_banned {
            let wanted = match kind {
                DocSubject::Function => "begin with a verb: Returns, Reads, Writes, Checks",
                DocSubject::Type => "begin with a noun",
            };
            let message = format!("the comment of `{name}` opens with `{word}`; {wanted}");
            self.findings.push(TidyRule::DocOpening.at(
                self.path,
                first.span().start().line,
                message,
            ));
        }
    }
}

/// Returns the first word of `#[doc = "…"]`.
fn first_word(attribute: &Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
    let syn::Expr::Lit(literal) = &pair.value else { return None };
    let syn::Lit::Str(text) = &literal.lit else { return None };
    let text = text.value();
    let word = text.split_whitespace().next()?;
    Some(word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned())
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

impl<'ast> Visit<'ast> for ItemFinder<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add(DocSubject::Function, &item.sig.ident, is_public(&item.vis), &item.attrs);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(DocSubject::Function, &item.sig.ident, is_public(&item.vis), &item.attrs);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.add(DocSubject::Function, &item.sig.ident, self.in_public_trait, &item.attrs);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add(DocSubject::Type, &item.ident, is_public(&item.vis), &item.attrs);
        let outer = std::mem::replace(&mut self.in_public_trait, is_public(&item.vis));
        visit::visit_item_trait(self, item);
        self.in_public_trait = outer;
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add(DocSubject::Type, &item.ident, is_public(&item.vis), &item.attrs);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add(DocSubject::Type, &item.ident, is_public(&item.vis), &item.attrs);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.add(DocSubject::Type, &item.ident, is_public(&item.vis), &item.attrs);
        visit::visit_item_type(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::Repo;

    fn check_docs(text: &str, expected: &[(usize, TidyRule)]) {
        let (sources, errors) = RustSources::parse(&Repo::of(&[("crates/a/src/b.rs", text)]));
        assert_eq!(errors, []);
        let found: Vec<_> = check(&sources).iter().map(|f| (f.line, f.rule)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_public_item_without_a_comment_is_found() {
        check_docs(
            "pub fn f() {}\npub struct S;\npub(crate) fn g() {}",
            &[(1, TidyRule::Doc), (2, TidyRule::Doc)],
        );
        check_docs("/// A port.\npub trait T {\n    fn f(&self);\n}", &[(3, TidyRule::Doc)]);
        check_docs("trait T { fn f(&self); }\nimpl T for u8 { fn f(&self) {} }", &[]);
        check_docs("#[cfg(test)]\nmod tests { pub fn f() {} }", &[]);
    }

    #[test]
    fn fields_and_variants_need_none() {
        check_docs("/// A pair.\npub struct S { pub a: u8 }\n/// Two.\npub enum E { A, B }", &[]);
    }

    #[test]
    fn a_function_begins_with_a_verb() {
        check_docs(
            "/// Returns it.\nfn f() {}\n/// The thing.\nfn g() {}",
            &[(3, TidyRule::DocOpening)],
        );
        check_docs(
            "/// Whether it is.\nfn f() {}\n\n/// What.\nfn g() {}",
            &[(1, TidyRule::DocOpening), (4, TidyRule::DocOpening)],
        );
    }

    #[test]
    fn a_type_begins_with_a_noun() {
        check_docs(
            "/// What is said.\nstruct A;\n/// The thing.\nstruct B;",
            &[(1, TidyRule::DocOpening)],
        );
    }
}
