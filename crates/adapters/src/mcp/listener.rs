//! Notifications of a server: logs, and changes of its tools. Its requests are refused.

#![expect(deprecated, reason = "the protocol will drop logging, and servers use it today")]

use std::sync::Arc;

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, Implementation, InitializeRequestParams, LoggingMessageNotificationParam,
};
use rmcp::service::{NotificationContext, RoleClient};

use super::SharedServer;

/// Receiver of one server's notifications.
pub(super) struct NotificationListener(pub(super) Arc<SharedServer>);

impl ClientHandler for NotificationListener {
    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let level = serde_json::to_value(params.level).unwrap_or_default();
        let text = match params.data.as_str() {
            Some(text) => text.to_owned(),
            None => params.data.to_string(),
        };
        let text = self.0.veil.over(&text);
        self.0.logs.push(level.as_str().unwrap_or("info"), &text);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.changed.notify_one();
    }

    fn get_info(&self) -> InitializeRequestParams {
        let client = Implementation::new("crewagent", env!("CARGO_PKG_VERSION"));
        InitializeRequestParams::new(ClientCapabilities::default(), client)
    }
}
