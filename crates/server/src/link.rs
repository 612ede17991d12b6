//! Links that open the page of a server, once.

use std::io;
use std::path::{Path, PathBuf};

use crate::ServerError;
use crate::instance::{failed, write_private};

/// The page that goes on to the last link, in the folder of the server.
pub(crate) const PAGE: &str = "open.html";

/// A link that opens the page of a server, once.
#[derive(Clone, PartialEq, Eq)]
pub struct Link {
    url: String,
    folder: PathBuf,
}

impl Link {
    /// The link to the server at this port, which keeps its files in this folder.
    pub(crate) fn new(folder: &Path, port: u16, token: &str) -> Self {
        Self { url: address(port, token), folder: folder.to_owned() }
    }

    /// The link that the server at this port has shown, if it is one to that server: it is opened in a browser.
    pub(crate) fn shown(folder: &Path, port: u16, url: &str) -> Option<Self> {
        let token = url.strip_prefix(&address(port, ""))?;
        let is_token = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_token.then(|| Self::new(folder, port, token))
    }

    /// The address itself. Whoever has it first is let in.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Writes a page that goes on to the link, and says where it is. Only its owner may read it, and so its path can be
    /// named where others look: they can read the arguments of every process.
    pub fn page(&self) -> Result<PathBuf, ServerError> {
        let path = self.folder.join(PAGE);
        self.write_page(&path).map_err(failed("write", &path))
    }

    fn write_page(&self, path: &Path) -> io::Result<PathBuf> {
        let url = &self.url;
        let page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<title>CrewAgent</title>\n<p><a href=\"{url}\">Open CrewAgent</a></p>\n</html>\n"
        );
        write_private(path, page.as_bytes())?;
        std::path::absolute(path)
    }
}

/// The address that opens the page of the server at this port.
pub(crate) fn address(port: u16, token: &str) -> String {
    format!("http://127.0.0.1:{port}/enter?token={token}")
}

/// Without the word that lets in.
impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("folder", &self.folder).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_shown(url: &str, is_link: bool) {
        let shown = Link::shown(Path::new("server"), 4747, url);
        assert_eq!(shown.map(|link| link.url), is_link.then(|| url.to_owned()));
    }

    #[test]
    fn only_a_link_to_the_server_itself_is_opened() {
        check_shown("http://127.0.0.1:4747/enter?token=0aF9", true);
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
            check_shown(url, false);
        }
    }
}
