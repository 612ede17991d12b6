//! Sizes of files and functions: exceptions are listed with their size, and the list may only shrink.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};

use super::exceptions::Exceptions;
use super::limits::TidyLimits;
use super::source::{RustSource, RustSources};
use super::{TidyFinding, TidyRule};

/// File, or a function in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SizeSubject {
    pub(super) path: String,
    /// Named as in `Type::name`, `<Type as Trait>::name` or `module::name`.
    pub(super) function: Option<String>,
}

impl SizeSubject {
    pub(super) fn limit(&self, limits: &TidyLimits) -> usize {
        match self.function {
            Some(_) => limits.sizes.function_lines,
            None => limits.sizes.file_lines,
        }
    }

    pub(super) fn describe(&self) -> String {
        match &self.function {
            Some(name) => format!("`{name}`"),
            None => "the file".to_string(),
        }
    }
}

/// Number of lines of code, and the first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CodeSize {
    pub(super) lines: usize,
    start: usize,
}

pub(super) type MeasuredSizes = BTreeMap<SizeSubject, CodeSize>;

/// Measures every file and every function that is no test.
pub(super) fn measure(sources: &RustSources) -> MeasuredSizes {
    let mut measured = MeasuredSizes::new();
    for (path, source) in sources.iter() {
        let subject = SizeSubject { path: path.to_string(), function: None };
        measured.insert(subject, CodeSize { lines: source.count_code(1..=usize::MAX), start: 1 });
        let mut finder =
            FunctionFinder { path, source, scope: Vec::new(), measured: &mut measured };
        finder.visit_file(&source.tree);
    }
    measured
}

/// Returns findings for sizes over the limit without an exception, and for exceptions that are larger than needed.
pub(super) fn check(
    measured: &MeasuredSizes,
    limits: &TidyLimits,
    exceptions: &Exceptions,
) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for (subject, size) in measured {
        let limit = subject.limit(limits);
        let allowed = exceptions.lines_for(subject).unwrap_or(limit).max(limit);
        if size.lines > allowed {
            let message = format!(
                "{} has {} lines of code, {allowed} are allowed; split it by what its parts do",
                subject.describe(),
                size.lines,
            );
            findings.push(TidyRule::Size.at(&subject.path, size.start, message));
        }
    }
    findings.extend(exceptions.check(measured, limits));
    findings
}

struct FunctionFinder<'a> {
    path: &'a str,
    source: &'a RustSource,
    /// Modules and the type around the current item.
    scope: Vec<String>,
    measured: &'a mut MeasuredSizes,
}

impl FunctionFinder<'_> {
    /// Counts the lines between the braces, as clippy does.
    fn add(&mut self, name: &syn::Ident, body: &syn::Block) {
        let start = name.span().start().line;
        if self.source.is_test(start) {
            return;
        }
        let braces = body.brace_token.span;
        let inside = braces.open().start().line + 1..=braces.close().start().line.saturating_sub(1);
        let size = CodeSize { lines: self.source.count_code(inside), start };
        let name = self.scope.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        let subject = SizeSubject { path: self.path.to_string(), function: Some(name.join("::")) };
        // Variants for two platforms may share a name; the longer one counts.
        let entry = self.measured.entry(subject).or_insert(size);
        *entry = (*entry).max(size);
    }

    fn within(&mut self, name: String, visit: impl FnOnce(&mut Self)) {
        self.scope.push(name);
        visit(self);
        self.scope.pop();
    }
}

impl<'ast> Visit<'ast> for FunctionFinder<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.within(item.ident.to_string(), |this| visit::visit_item_mod(this, item));
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.within(item.ident.to_string(), |this| visit::visit_item_trait(this, item));
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let own = last_word(&item.self_ty);
        let name = match item.trait_.as_ref().and_then(|(path, _)| path.segments.last()) {
            Some(of) => format!("<{own} as {}>", of.ident),
            None => own,
        };
        self.within(name, |this| visit::visit_item_impl(this, item));
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.add(&item.sig.ident, &item.block);
        self.within(item.sig.ident.to_string(), |this| visit::visit_item_fn(this, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.add(&item.sig.ident, &item.block);
        self.within(item.sig.ident.to_string(), |this| visit::visit_impl_item_fn(this, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.add(&item.sig.ident, body);
        }
        self.within(item.sig.ident.to_string(), |this| visit::visit_trait_item_fn(this, item));
    }
}

/// Returns `Thing` of `a::Thing<B>` and `&Thing`.
fn last_word(ty: &syn::Type) -> String {
    let of_path =
        |path: &syn::TypePath| path.path.segments.last().map(|last| last.ident.to_string());
    if let syn::Type::Reference(reference) = ty {
        return last_word(&reference.elem);
    }
    if let syn::Type::Path(path) = ty {
        return of_path(path).unwrap_or_default();
    }
    "_".to_string()
}

#[cfg(test)]
mod tests {
    use super::super::assert_places;
    use super::*;
    use crate::repo::Repo;

    fn check_text(text: &str, exceptions: &str) -> Vec<TidyFinding> {
        let (sources, errors) = RustSources::parse(&Repo::of(&[("a.rs", text)]));
        assert_eq!(errors, []);
        let exceptions = Exceptions::parse(exceptions).unwrap();
        check(&measure(&sources), &TidyLimits::for_test(), &exceptions)
    }

    fn function(name: &str, lines: usize) -> String {
        format!("fn {name}() {{\n{}}}\n", "    call();\n".repeat(lines))
    }

    #[test]
    fn a_file_over_the_limit_is_found() {
        assert_places(&check_text(&"fn f() {}\n".repeat(501), ""), &["a.rs:1"]);
        assert_places(&check_text(&"fn f() {}\n".repeat(500), ""), &[]);
    }

    #[test]
    fn a_function_over_the_limit_is_found() {
        let findings = check_text(&format!("\n{}", function("long", 81)), "");
        assert_places(&findings, &["a.rs:2"]);
        assert!(findings[0].message.starts_with("`long` has 81 lines"), "{findings:?}");
        assert_places(&check_text(&function("long", 80), ""), &[]);
    }

    #[test]
    fn a_long_test_is_no_finding() {
        let text = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function("long", 600));
        assert_places(&check_text(&text, ""), &[]);
    }

    #[test]
    fn an_exception_allows_its_size_and_no_more() {
        let exception = "[[exception]]\npath = \"a.rs\"\nfunction = \"long\"\nlines = 90\n";
        assert_places(&check_text(&function("long", 90), exception), &[]);
        assert_places(&check_text(&function("long", 91), exception), &["a.rs:1"]);
    }

    #[test]
    fn functions_are_named_by_their_place() {
        let text = "fn free() { fn inner() {} }\nmod m { fn f() {} }\nimpl a::T<X> { fn f() {} }\n\
                    impl b::D for &T { fn f() {} }\ntrait D { fn f() {} fn g(); }\n";
        let (sources, _) = RustSources::parse(&Repo::of(&[("a.rs", text)]));
        let measured = measure(&sources);
        let names: Vec<_> = measured.keys().filter_map(|key| key.function.as_deref()).collect();
        assert_eq!(names, ["<T as D>::f", "D::f", "T::f", "free", "free::inner", "m::f"]);
    }
}
