//! Links that open the page of a server, once.

use std::io;
use std::path::{Path, PathBuf};

use crewagent_engine::private;

use crate::ServerError;
use crate::instance::failed;

/// The page that redirects to the last link, in the folder of the server.
pub(crate) const PAGE: &str = "open.html";

/// A link that opens the page of a server, once.
#[derive(Clone, PartialEq, Eq)]
pub struct PageLink {
    url: String,
    folder: PathBuf,
}

impl PageLink {
    /// Makes the link to the server at this port, whose files are in this folder.
    pub(crate) fn new(folder: &Path, port: u16, token: &str) -> Self {
        Self { url: address(port, token), folder: folder.to_owned() }
    }

    /// Parses a link that the server at this port has sent. Any other address is refused, because a browser opens it.
    pub(crate) fn parse(folder: &Path, port: u16, url: &str) -> Option<Self> {
        let token = url.strip_prefix(&address(port, ""))?;
        let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_token.then(|| Self::new(folder, port, token))
    }

    /// Returns the address. The first browser that opens it gets access.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Writes a page that redirects to the link, and returns its path. Only the owner can read the page, so its path may
    /// appear in the arguments of a process, which other users can see.
    pub fn page(&self) -> Result<PathBuf, ServerError> {
        let path = self.folder.join(PAGE);
        self.write_page(&path).map_err(failed("write", &path))
    }

    fn write_page(&self, path: &Path) -> io::Result<PathBuf> {
        let url = &self.url;
        let page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<title>CrewAgent</title>\n<p><a href=\"{url}\">Open CrewAgent</a></p>\n</html>\n"
        );
        private::replace(path, page.as_bytes())?;
        std::path::absolute(path)
    }
}

/// Returns the address that opens the page of the server at this port.
pub(crate) fn address(port: u16, token: &str) -> String {
    format!("http://127.0.0.1:{port}/enter?token={token}")
}

/// Omits the token.
impl std::fmt::Debug for PageLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("folder", &self.folder).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_parse(url: &str, is_link: bool) {
        let shown = PageLink::parse(Path::new("server"), 4747, url);
        assert_eq!(shown.map(|link| link.url), is_link.then(|| url.to_owned()));
    }

    #[test]
    fn only_a_link_to_the_server_itself_is_opened() {
        check_parse("http://127.0.0.1:4747/enter?token=0aF9", true);
        for url in [
            "",
            "http://127.0.0.1:4747/enter?token=",
            "http://127.0.0.1:4747/enter?token=x",
            "http://127.0.0.1:4747/enter?token=0a&next=//example.org",
            "http://127.0.0.1:4747/enter?token=0a\"><script>",
            "http://127.0.0.1:47470/enter?token=0a",
            "http://127.0.0.1:4747@example.org/enter?token=0a",
            "https://127.0.0.1:4747/enter?token=0a",
            "file:///etc/passwd",
            "--help",
        ] {
            check_parse(url, false);
        }
    }
}
